/* The calls of cudasim/absent/nccl.h, in a build with BACKEND=cuda and without NCCL. The first
   tells comm_connect() that there is none, which prints so; a run that goes on has one rank. */
#ifdef NO_NCCL
#include <nccl.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

const char *ncclGetErrorString(ncclResult_t result) {
    return "this build has no NCCL";
}

const char *ncclGetLastError(ncclComm_t comm) {
    return "this build has no NCCL";
}

#define FAILS(call, ...)                                                                           \
    ncclResult_t call(__VA_ARGS__) {                                                               \
        return ncclSystemError;                                                                    \
    }

FAILS(ncclGetVersion, int *version)
FAILS(ncclGetUniqueId, ncclUniqueId *id)

FAILS(ncclCommInitRank, ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
FAILS(ncclCommSplit, ncclComm_t comm, int color, int key, ncclComm_t *made, ncclConfig_t *config)
FAILS(ncclCommDestroy, ncclComm_t comm)
FAILS(ncclCommCount, const ncclComm_t comm, int *ranks)
FAILS(ncclCommUserRank, const ncclComm_t comm, int *rank)

FAILS(ncclGroupStart, void)
FAILS(ncclGroupEnd, void)
FAILS(ncclAllReduce, const void *send, void *receive, size_t count, ncclDataType_t type,
      ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
FAILS(ncclReduceScatter, const void *send, void *receive, size_t count, ncclDataType_t type,
      ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
FAILS(ncclReduce, const void *send, void *receive, size_t count, ncclDataType_t type,
      ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
FAILS(ncclAllGather, const void *send, void *receive, size_t count, ncclDataType_t type,
      ncclComm_t comm, cudaStream_t stream)
FAILS(ncclBroadcast, const void *send, void *receive, size_t count, ncclDataType_t type, int root,
      ncclComm_t comm, cudaStream_t stream)
FAILS(ncclSend, const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
      cudaStream_t stream)
FAILS(ncclRecv, void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
      cudaStream_t stream)
#endif
