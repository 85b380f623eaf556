/**
 * @file collective.h
 * @brief The inside of cudasim, collectives: what one rank calls, whether the calls of all ranks
 * match, and the arithmetic. No transport, no queue.
 * @ingroup cudasim
 */
#ifndef CUDASIM_COLLECTIVE_H
#define CUDASIM_COLLECTIVE_H

#include "../sim.h"
#include "nccl.h"

/** The calls of NCCL that move data. */
typedef enum CollectiveKind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_REDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_SEND,
    COLLECTIVE_RECV,
} CollectiveKind;

/** A call of one rank. */
typedef struct CollectiveCall {
    CollectiveKind kind; /**< what was called */
    const void *in;      /**< what is sent; NULL: nothing is */
    void *out;           /**< where the result goes; NULL: nowhere */
    size_t count;        /**< elements, as the call counts them */
    ncclDataType_t type; /**< of the elements */
    ncclRedOp_t op;      /**< of those that reduce */
    int peer;            /**< root, or the other side of a send or receive; -1: there is none */
    int rank;            /**< who calls */
    int ranks;           /**< of the communicator */
    /** From 1 on: among the communicator's collectives; of a send, among those to this peer; of a
     * receive, among those from it. Calls that belong together have the same number. */
    uint64_t number;
    Place place; /**< of the call */
} CollectiveCall;

/** Bytes that are long enough for a line of collective_describe(). */
enum { COLLECTIVE_TEXT = 200 };

/** "ncclAllReduce". */
const char *collective_name(CollectiveKind kind);

/** "float"; NULL if there is no such type. */
const char *collective_type_name(ncclDataType_t type);

/** "sum"; NULL if there is no such operation. */
const char *collective_op_name(ncclRedOp_t op);

/** Whether the kind reduces, and so has an operation. */
bool collective_reduces(CollectiveKind kind);

/** Bytes of an element. */
size_t collective_type_bytes(ncclDataType_t type);

/** Bytes that a call reads at `in`; 0 if it reads nothing on this rank. */
size_t collective_in_bytes(const CollectiveCall *call);

/** Bytes that a call stores at `out`; 0 if it stores nothing on this rank. */
size_t collective_out_bytes(const CollectiveCall *call);

/** Bytes that the rank sends if the call goes round a ring: see cudasim_wire_bytes(). */
double collective_wire_bytes(const CollectiveCall *call);

/**
 * A call in words: "ncclAllReduce #3 (1024 x float, sum, my.cu:41)", "ncclSend #1 to rank 2 (8 x
 * half, ring.cu:20)".
 *
 * @param      call what
 * @param[out] text (COLLECTIVE_TEXT) the words
 */
void collective_describe(const CollectiveCall *call, char *text);

/**
 * Whether the calls of all ranks belong together; else reports the first two that do not, with both
 * lines: another function, type, count, operation or root.
 *
 * @param calls (ranks) of each rank its call; of a send and its receive, those two
 * @param ranks how many
 */
bool collective_check(const CollectiveCall *const calls[], int ranks);

/**
 * One array of those of all ranks: out[i] = in[0][i] op in[1][i] op ... in the order of ranks.
 *
 * Halves and bf16 are summed and multiplied in float and rounded once, at the end; integers wrap
 * around. ncclAvg divides the sum by the number of ranks before it is rounded; of integers the
 * sum, as it has wrapped around, is divided towards zero. ncclMax and ncclMin pass over a NaN where
 * another rank has a number.
 *
 * @param out   (count) may be one of `in`, if it begins where that does
 * @param in    (ranks) arrays (count)
 * @param ranks how many, at least 1
 * @param count elements
 * @param type  of the elements
 * @param op    operation
 */
void collective_reduce(void *out, const void *const in[], int ranks, size_t count,
                       ncclDataType_t type, ncclRedOp_t op);

/**
 * Does what matching calls ask for, where all memory is in reach. A call in place is right.
 *
 * @param calls (ranks) as for collective_check()
 * @param ranks how many
 */
void collective_run(const CollectiveCall *const calls[], int ranks);

#endif
