/**
 * @file transport.h
 * @brief The inside of cudasim, communicators: what calls of NCCL leave to be done, and who brings
 * the ranks together.
 * @ingroup cudasim
 *
 *     nccl.c             what a program calls
 *     communicator.c     communicators: made, split, ended
 *     group.c            what is called between ncclGroupStart and ncclGroupEnd
 *     collective.c       do the calls of all ranks match?
 *     reduce.c           arithmetic
 *     transport_local.c  ranks of this process
 *
 * A program is linked with one transport: that of libcudasim, where all ranks are in this process,
 * or one in which each process has a rank. The others know it by `sim_transport` alone.
 */
#ifndef CUDASIM_TRANSPORT_H
#define CUDASIM_TRANSPORT_H

#include "collective.h"
#include "operation.h"

/** A rank's end of a communicator: behind ncclComm_t. */
typedef struct ncclComm {
    int rank;             /**< of the one who has it */
    int ranks;            /**< how many there are */
    int device;           /**< its memory must be there */
    bool on_host;         /**< it takes host memory instead */
    int owner;            /**< cudasim_rank() of who made it, and may use it */
    int wire_rank;        /**< whose bytes cudasim_wire_bytes() counts: see there */
    Place made;           /**< by which call */
    uint64_t number;      /**< one for all its ranks, from 1 on: names it in records */
    uint64_t calls;       /**< that were queued */
    uint64_t done;        /**< of those */
    uint64_t collectives; /**< that were called */
    uint64_t *sends;      /**< (ranks) sends to each peer that were called */
    uint64_t *receives;   /**< (ranks) receives from each peer that were called */
    void *link;           /**< the transport's own */
} Communicator;

struct Launch;

/** A call in the queue of its stream: the work's context. */
typedef struct QueuedCall {
    CollectiveCall call;        /**< what to do */
    Communicator *comm;         /**< whose; NULL once the communicator was aborted */
    struct Launch *launch;      /**< with which calls it begins */
    int slot;                   /**< its queue */
    const Operation *operation; /**< in that queue */
    bool done;                  /**< its data were moved, though its queue may not be there yet */
    struct QueuedCall *next;    /**< of the launch */
} QueuedCall;

/**
 * The calls of one group for one communicator, or a single call: they begin together, when all that
 * comes before the first of them in any of its streams is over, and then get on side by side. So a
 * send and a receive of one launch do not wait for each other.
 */
typedef struct Launch {
    Communicator *comm; /**< whose */
    Clock before;       /**< what must be over before it begins */
    bool begun;         /**< it has */
    int holders;        /**< calls that are not over */
    QueuedCall *first;  /**< of its calls, in the order in which they were made */
    uint64_t group;     /**< of ncclGroupStart, from 1 on; 0: a single call */
} Launch;

/** What is asked of who brings the ranks together. */
typedef struct Transport {
    /** Fills in an id that no other communicator has. */
    void (*make_id)(ncclUniqueId *id);

    /**
     * A rank has come to make a communicator; does not wait for the others.
     *
     * @param comm    rank, ranks, device and made are set; takes `link` and `number`
     * @param id      one for all its ranks
     * @param parent  of which it is split off, or NULL
     * @param members (ranks) its ranks as the parent counts them, or NULL
     * @return whether it can be; what cannot was reported
     */
    bool (*arrive)(Communicator *comm, const ncclUniqueId *id, const Communicator *parent,
                   const int *members);

    /** Waits until all ranks have arrived. `call` is the function that waits. */
    bool (*join)(Communicator *comm, const char *call, Place place);

    /**
     * Each rank brings some bytes; does not wait for the others.
     *
     * @param comm  whose ranks
     * @param mine  (bytes) what this rank brings
     * @param bytes of each, the same for all
     */
    void (*bring)(Communicator *comm, const void *mine, size_t bytes);

    /**
     * What all ranks have brought; waits for those that have not yet.
     *
     * @param      comm whose ranks
     * @param[out] all  (ranks, bytes) what each brought, in the order of ranks
     * @param      call the function that waits
     * @param      place where
     */
    void (*fetch)(Communicator *comm, void *all, const char *call, Place place);

    /** A call has entered its queue. */
    void (*entered)(QueuedCall *call);

    /**
     * See Needs.queue: the queue that must get on before a call can run. It is called again until
     * it returns the call's own queue.
     */
    int (*needs)(QueuedCall *call);

    /** See Needs.tell: for whom a call waits. */
    void (*tell)(const QueuedCall *call, char *text, size_t size);

    /** The call's turn has come: moves the data, unless `done`. */
    void (*run)(QueuedCall *call);

    /** The rank's end is given back. */
    void (*leave)(Communicator *comm);
} Transport;

/** The one that this program is linked with. */
extern const Transport sim_transport;

/** The call's device memory is opened, and noted as read and written by its operation. For a
 * transport, before it moves data. */
void nccl_touch(const QueuedCall *call);

/** The call's data were moved: counts it, and its bytes on the wire. */
void nccl_done(QueuedCall *call);

/** Adds to what cudasim_wire_bytes() tells. */
void nccl_count_wire(const QueuedCall *call);

#endif
