/* The ranks of a run: who they are. The contract is in comm.h; comm_mpi.c and comm_local.c know how
   they were started, comm_nccl.c moves their tensors. */
#include "common/comm.h"

#include <cuda_runtime.h>
#include <stdlib.h>

#include "common/comm_inside.h"

Comm *comm_open(void) {
    Comm *comm = calloc(1, sizeof *comm);
    CHECK(comm != NULL, "no memory for a few bytes");
    comm->timeout = COMM_TIMEOUT;
    world_begin(comm);
    return comm;
}

void comm_close(Comm *comm) {
    comm_disconnect(comm);
    world_end(comm);
    free(comm);
}

int comm_rank(const Comm *comm) {
    return comm->rank;
}

int comm_size(const Comm *comm) {
    return comm->size;
}

void comm_set_timeout(Comm *comm, int seconds) {
    comm->timeout = seconds;
}

void comm_set_order(Comm *comm, bool of_ranks) {
    comm->any_order = !of_ranks;
}

void comm_choose_gpu(const Comm *comm) {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) {
        cudaSetDevice(comm->local_rank % count);
    }
}

void comm_barrier(Comm *comm) {
    char *all = malloc((size_t)comm->size);
    CHECK(all != NULL, "no memory for %d bytes", comm->size);
    comm_gather(comm, "", 1, all);
    free(all);
}

static int any_failed(Comm *comm, int result) {
    int *all = malloc((size_t)comm->size * sizeof *all);
    CHECK(all != NULL, "no memory for %d ranks", comm->size);
    comm_gather(comm, &result, sizeof result, all);
    for (int r = 0; r < comm->size && result == 0; r++) {
        result = all[r];
    }
    free(all);
    return result;
}

int comm_in_turn(Comm *comm, int (*stage)(void *context), void *context) {
    int result = any_failed(comm, comm->rank == 0 ? stage(context) : 0);
    if (result == 0 && comm->rank > 0) {
        result = stage(context);
    }
    return any_failed(comm, result);
}
