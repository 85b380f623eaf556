/**
 * @file cudasim_record.h
 * @brief A record of all that a program gives to its devices, and what must come before what.
 * @ingroup cudasim
 *
 * With `CUDASIM_RECORD=file` in the environment, or from cudasim_record_begin() on, each launch,
 * matrix product, copy, fill, collective, event and wait becomes an entry. An entry knows the
 * entries that come before it, and has a vector clock; so whether two of them *could* run at the
 * same time is decided by the record alone, whatever order the simulator runs them in.
 *
 *     cudasim_record_begin();
 *     copy_batch(next, copies), forward(batch, compute);
 *     assert(cudasim_may_overlap(find("cudaMemcpyAsync"), find("forward")));
 *
 * The file has one entry a line, a JSON object: docs/clock.md has its keys. It is written when the
 * program ends, under another name, and then renamed.
 */
#ifndef CUDASIM_RECORD_H
#define CUDASIM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kinds of entries; those from CUDASIM_EVENT on take no time by themselves. */
typedef enum CudasimKind {
    CUDASIM_LAUNCH,     /**< a kernel */
    CUDASIM_PRODUCT,    /**< a matrix product of cuBLAS */
    CUDASIM_COPY,       /**< cudaMemcpy and its kin */
    CUDASIM_FILL,       /**< cudaMemset and its kin */
    CUDASIM_COLLECTIVE, /**< what ranks of a communicator do together */
    CUDASIM_EVENT,      /**< cudaEventRecord: a place in a stream */
    CUDASIM_WAIT,       /**< cudaStreamWaitEvent */
    CUDASIM_MARK,       /**< another place in a stream: memory is taken, a graph is over */
    CUDASIM_HOST_CALL,  /**< a function of the host that a stream calls */
    CUDASIM_GRAPH,      /**< cudaGraphLaunch, on the host: what it puts into streams follows */
    CUDASIM_HOST_WAIT,  /**< the host waits for a stream, an event or a device */
} CudasimKind;

/** Where a copy comes from and goes to. */
typedef enum CudasimWay {
    CUDASIM_TO_DEVICE,      /**< from the host */
    CUDASIM_FROM_DEVICE,    /**< to the host */
    CUDASIM_WITHIN_DEVICE,  /**< within one device */
    CUDASIM_BETWEEN_DEVICES /**< from `device` to `peer` */
} CudasimWay;

/** The units that do a product's arithmetic. */
typedef enum CudasimPrecision {
    CUDASIM_F32,  /**< floats */
    CUDASIM_TF32, /**< floats, rounded to 10 bits for tensor cores */
    CUDASIM_F16,  /**< halves, sums in float */
    CUDASIM_BF16, /**< bf16, sums in float */
    CUDASIM_PRECISIONS
} CudasimPrecision;

/** The calls that ranks of a communicator make together; the last two are of two of them. */
typedef enum CudasimCollective {
    CUDASIM_ALL_REDUCE,     /**< every rank gets the sum */
    CUDASIM_REDUCE_TO_ONE,  /**< one rank gets it */
    CUDASIM_REDUCE_SCATTER, /**< every rank gets its part of it */
    CUDASIM_ALL_GATHER,     /**< every rank gets the parts of all */
    CUDASIM_BROADCAST,      /**< every rank gets what one has */
    CUDASIM_SEND,           /**< this rank sends to `peer` */
    CUDASIM_RECEIVE,        /**< this rank gets from `peer` */
} CudasimCollective;

/**
 * One entry. Strings live as long as the program, `after` and `clock` as long as the record. What
 * does not apply is 0, or as said.
 */
typedef struct CudasimEntry {
    uint64_t id;      /**< 1, 2, ... in the order in which the host came to them */
    CudasimKind kind; /**< what it is */
    const char *name; /**< the kernel's, or the function's that was called */
    const char *op;   /**< of cudasim_note() or cudasim_op_begin(); NULL: none was given */
    const char *file; /**< the call's place in the source; NULL: not known */
    int line;         /**< the call's line */
    int rank;         /**< of the host that made the call */
    int device;       /**< where it runs */
    int stream;       /**< number of its queue; -1: the host's own lane */
    uint64_t number;  /**< its place in that queue, from 1 on */
    uint64_t graph;   /**< the entry of the cudaGraphLaunch that put it there; 0: none did */

    const uint64_t *after; /**< (after_count) entries that come directly before, ascending */
    int after_count;       /**< how many */
    const uint64_t *clock; /**< (clock_count) of each queue, the number up to which all is before */
    int clock_count;       /**< how many; 0 in a dry run, which keeps none */

    double bytes;               /**< that move: as noted, or those of a copy, fill or product */
    double flops;               /**< arithmetic: as noted, or that of a product */
    CudasimPrecision precision; /**< of that arithmetic */
    double read;                /**< bytes of distinct sectors that were read; -1: not counted */
    double written;             /**< bytes of distinct sectors written; -1: not counted */
    unsigned grid[3];           /**< of a launch: blocks */
    unsigned block[3];          /**< of a launch: threads of a block */

    CudasimWay way; /**< of a copy */
    int peer; /**< of a copy between devices: the device that it goes to; of a send or receive: the
                 other rank */

    CudasimCollective collective; /**< of a collective; its bytes are those of the larger buffer */
    uint64_t communicator;        /**< the same on all of its ranks */
    uint64_t
        call; /**< the same on all ranks that meet: the communicator's 1st, 2nd, ... collective,
                       or message from one rank to another */
    uint64_t group; /**< of ncclGroupStart: those of one group and communicator go on side by side,
                       and what follows waits for all of them; 0: it is one by itself */
    int ranks;      /**< of the communicator */
    int comm_rank;  /**< this one's number among them */
} CudasimEntry;

/** Entries of one program. */
typedef struct CudasimRecord {
    const CudasimEntry *entry; /**< (count) ascending by id */
    size_t count;              /**< how many */
} CudasimRecord;

/** From here on calls become entries; those before it are nobody's predecessors. */
void cudasim_record_begin(void);

/** Whether calls become entries: noting what nobody records can be saved. */
bool cudasim_recording(void);

/** All entries so far. It is valid until the next call of CUDA. */
CudasimRecord cudasim_record(void);

/** Entry `id`, valid until the next call of CUDA; NULL if there is none. */
const CudasimEntry *cudasim_entry(uint64_t id);

/** Whether this is a dry run (CUDASIM_DRY=1): nothing is computed, or moved between ranks. */
bool cudasim_dry(void);

/**
 * Whether two entries could run at the same time: nothing orders them. Decided by the clocks alone,
 * so what the simulator does first plays no part. Calls of several ranks that meet, a collective or
 * a send and its receive, begin and end together: what comes after one of them comes after all, and
 * after what came before any of them. Ask when all ranks have made their calls.
 *
 * @return false for two that are ordered, for an entry and itself, and where there is no such entry
 */
bool cudasim_may_overlap(uint64_t a, uint64_t b);

/**
 * Names the next launch or product of this host and says what it costs. Bytes and arithmetic are
 * those of its formula; a makespan counts with them. The arithmetic of a launch is that of floats.
 *
 * @param name  must live on
 * @param flops operations
 * @param bytes read and written
 */
void cudasim_note(const char *name, double flops, double bytes);

/**
 * The same for an op that is several launches and products, up to cudasim_op_end(): the first of
 * them carries the cost, and the others none.
 *
 * @param name      must live on
 * @param flops     operations
 * @param bytes     read and written
 * @param precision of the arithmetic
 */
void cudasim_op_begin(const char *name, double flops, double bytes, CudasimPrecision precision);

/** Ends what cudasim_op_begin() began. */
void cudasim_op_end(void);

#ifdef __cplusplus
}
#endif

#endif
