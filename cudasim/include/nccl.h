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

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#endif
#include "cuda_runtime.h"
#include "cudasim_unsupported.h"

#define NCCL_MAJOR 2   /**< first number of the version of which this has a part */
#define NCCL_MINOR 22  /**< second number */
#define NCCL_PATCH 3   /**< third number */
#define NCCL_SUFFIX "" /**< of a version before its release */
/** A version as one number. */
#define NCCL_VERSION(X, Y, Z)                                                                      \
    (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))
#define NCCL_VERSION_CODE 22203 /**< this version as one number */

/** A rank's end of a communicator. */
typedef struct ncclComm *ncclComm_t;
#define NCCL_COMM_NULL NULL /**< no communicator */

#define NCCL_UNIQUE_ID_BYTES 128 /**< bytes of a ncclUniqueId */
/** By which the ranks of a communicator find each other: rank 0 makes it, all must have it. */
typedef struct ncclUniqueId {
    char internal[NCCL_UNIQUE_ID_BYTES]; /**< not for the program */
} ncclUniqueId;

/** The outcome of a call. The numbers are NCCL's. */
typedef enum ncclResult_t {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1, /**< a call of CUDA has failed */
    ncclSystemError = 2,        /**< a call of the operating system has failed */
    ncclInternalError = 3,      /**< not the program's fault */
    ncclInvalidArgument = 4,    /**< an argument has an impossible value */
    ncclInvalidUsage = 5,       /**< the call is not possible here or now */
    ncclRemoteError = 6,        /**< another rank has failed */
    ncclInProgress = 7,         /**< not over yet; never here: communicators are blocking */
    ncclNumResults = 8          /**< how many there are */
} ncclResult_t;

/** How numbers of all ranks become one. */
typedef enum ncclRedOp_t {
    ncclSum = 0,
    ncclProd = 1,
    ncclMax = 2,
    ncclMin = 3,
    ncclAvg = 4,              /**< the sum, divided by the number of ranks */
    ncclNumOps = 5,           /**< how many there are */
    ncclMaxRedOp = 0x7fffffff /**< the largest value that an operation of a program may have */
} ncclRedOp_t;

/** Type of the elements. */
typedef enum ncclDataType_t {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9,
    ncclNumTypes = 10 /**< how many there are */
} ncclDataType_t;

#define NCCL_CONFIG_UNDEF_INT INT_MIN /**< a setting that is left to NCCL */
#define NCCL_CONFIG_UNDEF_PTR NULL    /**< a setting that is left to NCCL */
#define NCCL_SPLIT_NOCOLOR -1         /**< the rank has no part in a split */
#define NCCL_API_MAGIC 0xcafebeef     /**< marks a configuration that was initialised */

/** Settings of a communicator. All but `blocking` make no difference here. */
typedef struct ncclConfig_t {
    size_t size;         /**< by NCCL_CONFIG_INITIALIZER */
    unsigned magic;      /**< by NCCL_CONFIG_INITIALIZER */
    unsigned version;    /**< by NCCL_CONFIG_INITIALIZER */
    int blocking;        /**< 1, or not set: 0 is not simulated */
    int cgaClusterSize;  /**< see NCCL */
    int minCTAs;         /**< see NCCL */
    int maxCTAs;         /**< see NCCL */
    const char *netName; /**< see NCCL */
    int splitShare;      /**< see NCCL */
} ncclConfig_t;

/** The settings of a communicator for which nothing was chosen. */
#define NCCL_CONFIG_INITIALIZER                                                                    \
    {                                                                                              \
        sizeof(ncclConfig_t), NCCL_API_MAGIC, NCCL_VERSION_CODE, NCCL_CONFIG_UNDEF_INT,            \
            NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT,                   \
            NCCL_CONFIG_UNDEF_PTR, NCCL_CONFIG_UNDEF_INT                                           \
    }

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
