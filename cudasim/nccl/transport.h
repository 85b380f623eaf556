/**
 * @file transport.h
 * @brief The inside of cudasim, communicators: the calls of NCCL that wait in queues, and who
 * brings the ranks together.
 * @ingroup cudasim
 *
 *     nccl.c             calls that move data
 *     communicator.c     communicators: made, asked, ended
 *     split.c            parts of communicators
 *     group.c            the calls of a group are launched
 *     collective.c       do the calls of all ranks match?
 *     reduce.c           arithmetic
 *     clique.c           how ranks of this process find each other
 *     transport_local.c  what they do together
 *
 * A program is linked with one transport: that of libcudasim, where all ranks are in this process,
 * or one in which each process has a rank. The other files know it by `sim_transport` alone.
 */
#ifndef CUDASIM_TRANSPORT_H
#define CUDASIM_TRANSPORT_H

#include "../rank.h"
#include "collective.h"

/** The last call of a communicator in one of its queues. */
typedef struct LastCall {
    int slot;            /**< queue */
    uint64_t number;     /**< of the operation */
    CollectiveCall call; /**< the call */
} LastCall;

/** A rank's end of a communicator: what ncclComm_t points at. */
typedef struct ncclComm {
    int rank;             /**< of the one who has it */
    int ranks;            /**< how many there are */
    int device;           /**< its memory must be there */
    bool on_host;         /**< it takes host memory instead */
    bool joined;          /**< all ranks have come */
    bool finalized;       /**< by ncclCommFinalize() */
    int owner;            /**< cudasim_rank() of who made it, and may use it */
    int wire_rank;        /**< the index for cudasim_wire_bytes() */
    const char *maker;    /**< "ncclCommInitRank" */
    Place made;           /**< by which call */
    uint64_t number;      /**< one for all its ranks, from 1 on: names it in records */
    uint64_t splits;      /**< calls of ncclCommSplit() */
    uint64_t collectives; /**< collectives called */
    uint64_t *sends;      /**< (ranks) sends to each peer that were called */
    uint64_t *receives;   /**< (ranks) receives from each peer that were called */
    LastCall *last;       /**< [0, last_count): of each queue that it was used in */
    int last_count;       /**< see last */
    int holders;          /**< the program, and calls that are not over */
    void *link;           /**< the transport's own */
} Communicator;

struct CallLaunch;

/** A call in the queue of its stream: the work's context. */
typedef struct QueuedCall {
    CollectiveCall call;        /**< the call */
    Communicator *comm;         /**< of which rank and communicator */
    const Host *caller;         /**< the thread or rank that has called */
    struct CallLaunch *launch;  /**< the calls with which it begins */
    int slot;                   /**< its queue */
    const Operation *operation; /**< in that queue */
    bool done;                  /**< data were moved, though its queue may not have come there */
    int met;                    /**< for the transport: ranks before this one are ready */
    struct QueuedCall *next;    /**< of the launch */
    struct QueuedCall *pending; /**< for the transport: the rank's next that is not done */
} QueuedCall;

/**
 * The calls of one group for one communicator, or a single call: they begin together, when all that
 * comes before the first of them in any of its streams is over, and then get on side by side. So a
 * send and a receive of one launch do not wait for each other.
 */
typedef struct CallLaunch {
    QueuedCall *first; /**< of its calls, in the order in which they were made */
    Clock *before;     /**< what must be over before it begins */
    bool begun;        /**< it has */
    int holders;       /**< calls that are not over */
    uint64_t group;    /**< of ncclGroupStart, from 1 on; 0: a single call */
} CallLaunch;

/** The work of bringing ranks together. */
typedef struct Transport {
    /** Fills in an id that no other communicator has. */
    void (*make_id)(ncclUniqueId *id);

    /**
     * A rank has come to make a communicator; does not wait for the others.
     *
     * @param comm    rank, ranks, device, maker and made are set; takes `link` and `number`
     * @param id      one for all its ranks
     * @param parent  of which it is split off, or NULL
     * @param members (ranks) its ranks as the parent counts them, or NULL
     * @return whether it can be made; if not, that was reported
     */
    bool (*arrive)(Communicator *comm, const ncclUniqueId *id, const Communicator *parent,
                   const int *members);

    /** Waits until all ranks have arrived, in a call at a line. */
    void (*join)(Communicator *comm, const char *call, Place place);

    /**
     * Each rank brings some bytes; does not wait for the others.
     *
     * @param comm  whose ranks
     * @param mine  (bytes) what this rank brings
     * @param bytes of each, the same for all
     */
    void (*bring)(Communicator *comm, const void *mine, size_t bytes);

    /**
     * Gives what all ranks have brought; waits for those that have not yet.
     *
     * @param      comm whose ranks
     * @param[out] all  (ranks, bytes) what each brought, in the order of ranks
     * @param      call the function that waits
     * @param      place where
     */
    void (*fetch)(Communicator *comm, void *all, const char *call, Place place);

    /** A call has entered its queue. */
    void (*entered)(QueuedCall *call);

    /** See Needs.queue: when it says the call's own queue, run() is called. */
    int (*needs)(QueuedCall *call);

    /** Says for whom a call waits: see Needs.tell. */
    void (*tell)(const QueuedCall *call, char *text, size_t size);

    /** Moves the data, unless it is done. */
    void (*run)(QueuedCall *call);

    /** A call leaves its queue and was not done, because its device has failed. */
    void (*forget)(QueuedCall *call);

    /** The rank's end is given back; aborted, its calls that are not done never will be. */
    void (*leave)(Communicator *comm, Place place, bool abort);
} Transport;

/** The one that this program is linked with. */
extern const Transport sim_transport;

/* ---- group.c --------------------------------------------------------------------------------- */

/** The queue that must get on before a launch begins; -1: it has begun. */
int launch_lacks(CallLaunch *launch);

/** Opens the memory of a call, and notes it as read and written by its operation. For a transport,
 * before it moves data. */
void call_touch(const QueuedCall *call);

/** The data of a call were moved: counts its bytes on the wire. For a transport. */
void call_done(QueuedCall *call);

#endif
