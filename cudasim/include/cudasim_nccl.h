/**
 * @file cudasim_nccl.h
 * @brief What the simulator's NCCL can do beyond NVIDIA's: host memory, and bytes on the wire.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CUDASIM_NCCL_H
#define CUDASIM_CUDASIM_NCCL_H

#include "nccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @cond */
ncclResult_t cudasim_nccl_on_host(CUDASIM_PLACE, ncclComm_t comm);
/** @endcond */

/**
 * From now on the communicator takes host memory, and only that: each rank must say so before its
 * first call. The stream may be any; memory may be touched again once the program has waited for
 * it. NCCL has nothing of the kind.
 *
 * @param comm the rank's communicator
 * @return ncclInvalidUsage if it has been used already
 */
#define cudasim_comm_on_host(comm) cudasim_nccl_on_host(CUDASIM_HERE, (comm))

/**
 * Bytes that a rank has sent so far, in the calls that have been done, if each goes round a ring.
 * With R ranks and n bytes (of the larger buffer) each rank sends
 *
 *     AllReduce                 2 n (R-1)/R
 *     ReduceScatter, AllGather  n (R-1)/R
 *     Broadcast                 n; nothing on the last rank of the ring, the one before the root
 *     Reduce                    n; nothing on the root
 *     Send                      n; nothing to itself
 *
 * the factors of nccl-tests, over which its "bus bandwidth" is reckoned.
 *
 * @param rank a rank as cudasim_rank() counts; where a program has no ranks, of the communicator
 * @return bytes; 0 for a rank that does not exist
 */
double cudasim_wire_bytes(int rank);

#ifdef __cplusplus
}
#endif

#endif
