/* Ranks of one process: those of cudasim_ranks_run(), or this program alone. The contract is in
   comm.h and comm_inside.h. */
#ifndef WITH_MPI
#include <stdlib.h>
#include <string.h>

#include "common/comm_inside.h"
#include "common/lab.h"

#ifdef BACKEND_CUDA

void world_begin(Comm *comm) {
    comm->size = 1;
}

void world_end(Comm *comm) {
    (void)comm;
}

void comm_gather(Comm *comm, const void *mine, size_t bytes, void *all) {
    (void)comm;
    memcpy(all, mine, bytes);
}

#else
#include <cuda_runtime.h>
#include <cudasim_nccl.h>
#include <cudasim_ranks.h>

#define EXPECT(call)                                                                               \
    do {                                                                                           \
        ncclResult_t result_ = (call);                                                             \
        CHECK(result_ == ncclSuccess, "ranks: %s", ncclGetErrorString(result_));                   \
    } while (0)

/* The first rank that comes makes the id for all. */
static ncclUniqueId id_for_all(int ranks) {
    static ncclUniqueId id;
    static int came;
    if (came == 0) {
        EXPECT(ncclGetUniqueId(&id));
    }
    came = (came + 1) % ranks;
    return id;
}

void world_begin(Comm *comm) {
    comm->rank = comm->local_rank = cudasim_rank();
    comm->size = cudasim_rank_count();
    if (comm->size > 1) {
        ncclComm_t host;
        EXPECT(ncclCommInitRank(&host, comm->size, id_for_all(comm->size), comm->rank));
        EXPECT(cudasim_comm_on_host(host));
        comm->world = host;
    }
}

void world_end(Comm *comm) {
    if (comm->world != NULL) {
        EXPECT(ncclCommDestroy(comm->world));
    }
}

void comm_gather(Comm *comm, const void *mine, size_t bytes, void *all) {
    if (comm->world == NULL) {
        memcpy(all, mine, bytes);
        return;
    }
    EXPECT(ncclAllGather(mine, all, bytes, ncclUint8, comm->world, 0));
    cudaError_t error = cudaStreamSynchronize(0);
    CHECK(error == cudaSuccess, "ranks: %s", cudaGetErrorString(error));
    comm->gathered += (double)bytes * (comm->size - 1);
}

#endif

void comm_abandon(const Comm *comm, int status) {
    (void)comm;
    exit(status);
}
#endif
