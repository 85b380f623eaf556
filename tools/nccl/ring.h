/**
 * @file ring.h
 * @brief An all-reduce made of send and receive: chunks go round a ring of ranks.
 * @ingroup tools
 *
 * With R ranks the array is cut into R chunks: chunk c is the elements from c count / R up to
 * (c + 1) count / R, rounded down, so that any count can be cut. In R - 1 steps each rank sends a
 * chunk to the next rank, takes one from the rank before and adds its own numbers to it: then rank
 * r has the sum of chunk r + 1. In R - 1 more steps the sums go round. Each rank sends 2 (R-1)/R of
 * the array, however many there are.
 *
 * The sum of an element of chunk c begins with rank c and goes round the ring from there:
 *
 *     x[c] + x[c+1] + ... + x[R-1] + x[0] + ... + x[c-1]
 *
 * added from left to right in float. So its bits are defined, and the same on every engine. They
 * are those of ncclAllReduce in the simulator, x[0] + ... + x[R-1], for two ranks, and for numbers
 * of which all sums are exact.
 *
 * Reference: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations", J. Parallel Distrib. Comput. 69 (2009).
 */
#ifndef TOOLS_NCCL_RING_H
#define TOOLS_NCCL_RING_H

#include <stddef.h>

#include <cuda_runtime.h>
#include <nccl.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A rank of a ring: what it works on, and where. */
typedef struct RingRank {
    float *x;            /**< (count) its numbers on the device; then the sums */
    float *incoming;     /**< (count / R + 1) scratch on the device, apart from x */
    ncclComm_t comm;     /**< its communicator */
    cudaStream_t stream; /**< of the communicator's device */
} RingRank;

/**
 * Sums the arrays of all ranks, in place. It is work of the streams: wait for them.
 *
 * @param rank  (local) the ranks that the caller speaks for: one, or all that one thread has
 * @param local how many
 * @param count elements, the same for all; less than R are allowed, and none
 * @return what NCCL has returned, or ncclUnhandledCudaError
 */
ncclResult_t ring_all_reduce(const RingRank *rank, int local, size_t count);

#ifdef __cplusplus
}
#endif

#endif
