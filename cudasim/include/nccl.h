/**
 * @file nccl.h
 * @brief NCCL as cudasim offers it: communicators, groups, collectives, send and receive.
 * @ingroup cudasim
 *
 * It stands in for NVIDIA's header of the same name, with its names, values and signatures of
 * version 2.22. docs/nccl.md says in which order numbers are summed, and what is reported.
 * A communicator takes device memory; cudasim_nccl.h has what this one can do beyond NCCL.
 *
 * Counts are elements. A collective is work of its stream: the call checks the arguments and
 * returns, and the work is done when all ranks' streams have come to it. Where several threads
 * or ranks would wait for each other, the calls must be made in a group.
 */
#ifndef CUDASIM_NCCL_H
#define CUDASIM_NCCL_H

#ifdef __cplusplus
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#endif
#include "cuda_runtime.h"
#include "cudasim_nccl_types.h"
#include "cudasim_unsupported.h"

#ifdef __cplusplus
extern "C" {
#endif
/** @cond */
const char *ncclGetErrorString(ncclResult_t result);
const char *ncclGetLastError(ncclComm_t comm);

ncclResult_t cudasim_nccl_version(CUDASIM_PLACE, int *version);
ncclResult_t cudasim_nccl_unique_id(CUDASIM_PLACE, ncclUniqueId *id);
ncclResult_t cudasim_nccl_init_rank(CUDASIM_PLACE, ncclComm_t *comm, int ranks, ncclUniqueId id,
                                    int rank);
ncclResult_t cudasim_nccl_init_config(CUDASIM_PLACE, ncclComm_t *comm, int ranks, ncclUniqueId id,
                                      int rank, ncclConfig_t *config);
ncclResult_t cudasim_nccl_init_all(CUDASIM_PLACE, ncclComm_t *comms, int ranks, const int *devices);
ncclResult_t cudasim_nccl_split(CUDASIM_PLACE, ncclComm_t comm, int color, int key,
                                ncclComm_t *made, ncclConfig_t *config);
ncclResult_t cudasim_nccl_finalize(CUDASIM_PLACE, ncclComm_t comm);
ncclResult_t cudasim_nccl_destroy(CUDASIM_PLACE, ncclComm_t comm);
ncclResult_t cudasim_nccl_abort(CUDASIM_PLACE, ncclComm_t comm);
ncclResult_t cudasim_nccl_count(CUDASIM_PLACE, ncclComm_t comm, int *ranks);
ncclResult_t cudasim_nccl_device(CUDASIM_PLACE, ncclComm_t comm, int *device);
ncclResult_t cudasim_nccl_rank(CUDASIM_PLACE, ncclComm_t comm, int *rank);
ncclResult_t cudasim_nccl_async_error(CUDASIM_PLACE, ncclComm_t comm, ncclResult_t *error);
ncclResult_t cudasim_nccl_group_start(CUDASIM_PLACE);
ncclResult_t cudasim_nccl_group_end(CUDASIM_PLACE);

ncclResult_t cudasim_nccl_all_reduce(CUDASIM_PLACE, const void *send, void *receive, size_t count,
                                     ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                     cudaStream_t stream);
ncclResult_t cudasim_nccl_reduce(CUDASIM_PLACE, const void *send, void *receive, size_t count,
                                 ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm,
                                 cudaStream_t stream);
ncclResult_t cudasim_nccl_reduce_scatter(CUDASIM_PLACE, const void *send, void *receive,
                                         size_t count, ncclDataType_t type, ncclRedOp_t op,
                                         ncclComm_t comm, cudaStream_t stream);
ncclResult_t cudasim_nccl_all_gather(CUDASIM_PLACE, const void *send, void *receive, size_t count,
                                     ncclDataType_t type, ncclComm_t comm, cudaStream_t stream);
ncclResult_t cudasim_nccl_broadcast(CUDASIM_PLACE, const void *send, void *receive, size_t count,
                                    ncclDataType_t type, int root, ncclComm_t comm,
                                    cudaStream_t stream);
ncclResult_t cudasim_nccl_bcast(CUDASIM_PLACE, void *buffer, size_t count, ncclDataType_t type,
                                int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t cudasim_nccl_send(CUDASIM_PLACE, const void *send, size_t count, ncclDataType_t type,
                               int peer, ncclComm_t comm, cudaStream_t stream);
ncclResult_t cudasim_nccl_recv(CUDASIM_PLACE, void *receive, size_t count, ncclDataType_t type,
                               int peer, ncclComm_t comm, cudaStream_t stream);

#define ncclGetVersion(version) cudasim_nccl_version(CUDASIM_HERE, (version))
#define ncclGetUniqueId(id) cudasim_nccl_unique_id(CUDASIM_HERE, (id))
#define ncclCommInitRank(...) cudasim_nccl_init_rank(CUDASIM_HERE, __VA_ARGS__)
#define ncclCommInitRankConfig(...) cudasim_nccl_init_config(CUDASIM_HERE, __VA_ARGS__)
#define ncclCommInitAll(...) cudasim_nccl_init_all(CUDASIM_HERE, __VA_ARGS__)
#define ncclCommSplit(...) cudasim_nccl_split(CUDASIM_HERE, __VA_ARGS__)
#define ncclCommFinalize(comm) cudasim_nccl_finalize(CUDASIM_HERE, (comm))
#define ncclCommDestroy(comm) cudasim_nccl_destroy(CUDASIM_HERE, (comm))
#define ncclCommAbort(comm) cudasim_nccl_abort(CUDASIM_HERE, (comm))
#define ncclCommCount(...) cudasim_nccl_count(CUDASIM_HERE, __VA_ARGS__)
#define ncclCommCuDevice(...) cudasim_nccl_device(CUDASIM_HERE, __VA_ARGS__)
#define ncclCommUserRank(...) cudasim_nccl_rank(CUDASIM_HERE, __VA_ARGS__)
#define ncclCommGetAsyncError(...) cudasim_nccl_async_error(CUDASIM_HERE, __VA_ARGS__)
#define ncclGroupStart() cudasim_nccl_group_start(CUDASIM_HERE)
#define ncclGroupEnd() cudasim_nccl_group_end(CUDASIM_HERE)
#define ncclAllReduce(...) cudasim_nccl_all_reduce(CUDASIM_HERE, __VA_ARGS__)
#define ncclReduce(...) cudasim_nccl_reduce(CUDASIM_HERE, __VA_ARGS__)
#define ncclReduceScatter(...) cudasim_nccl_reduce_scatter(CUDASIM_HERE, __VA_ARGS__)
#define ncclAllGather(...) cudasim_nccl_all_gather(CUDASIM_HERE, __VA_ARGS__)
#define ncclBroadcast(...) cudasim_nccl_broadcast(CUDASIM_HERE, __VA_ARGS__)
#define ncclBcast(...) cudasim_nccl_bcast(CUDASIM_HERE, __VA_ARGS__)
#define ncclSend(...) cudasim_nccl_send(CUDASIM_HERE, __VA_ARGS__)
#define ncclRecv(...) cudasim_nccl_recv(CUDASIM_HERE, __VA_ARGS__)

#ifdef __cplusplus
#define CUDASIM_NO_NCCL(name, message) CUDASIM_NO(message) ncclResult_t name(...);
#else
#define CUDASIM_NO_NCCL(name, message) CUDASIM_NO(message) ncclResult_t name(const void *, ...);
#endif
CUDASIM_NO_NCCL(ncclRedOpCreatePreMulSum, "operations of a program's own; scale before the sum")
CUDASIM_NO_NCCL(ncclRedOpDestroy, "operations of a program's own")
CUDASIM_NO_NCCL(ncclMemAlloc, "NCCL's own memory; use cudaMalloc")
CUDASIM_NO_NCCL(ncclMemFree, "NCCL's own memory; use cudaFree")
CUDASIM_NO_NCCL(ncclCommRegister, "registered buffers; leave the call out")
CUDASIM_NO_NCCL(ncclCommDeregister, "registered buffers; leave the call out")
CUDASIM_NO_NCCL(ncclCommInitRankScalable, "several unique ids; use ncclCommInitRank")
CUDASIM_NO_NCCL(ncclCommShrink, "communicators without some ranks; use ncclCommSplit")
CUDASIM_NO_NCCL(ncclGroupSimulateEnd, "NCCL's estimate of time; cudasim records what was called")
/** @endcond */
#ifdef __cplusplus
}
#endif

#endif
