/* Tensors of all ranks, by the calls of nccl.h: cudasim's, or NVIDIA's. The contract is in
   comm.h. */
#define _GNU_SOURCE
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/comm_inside.h"

#ifdef CUDASIM
#include <cudasim_nccl.h>
#endif

#define EXPECT(call)                                                                               \
    do {                                                                                           \
        ncclResult_t result_ = (call);                                                             \
        CHECK(result_ == ncclSuccess, "NCCL: %s", ncclGetErrorString(result_));                    \
    } while (0)

double comm_sent(const Comm *comm) {
#ifdef CUDASIM
    return cudasim_wire_bytes(comm->rank) - comm->gathered;
#else
    (void)comm;
    return 0;
#endif
}

struct ncclComm *comm_nccl(const Comm *comm) {
    CHECK(comm->nccl != NULL, "the ranks are not connected");
    return comm->nccl;
}

struct ncclComm *comm_split(Comm *comm, int color, int key) {
    CHECK(comm->parts < COMM_PARTS, "more than %d splits", COMM_PARTS);
    ncclComm_t *part = &comm->part[comm->parts++];
    EXPECT(ncclCommSplit(comm_nccl(comm), color, key, part, NULL));
    return *part;
}

void comm_disconnect(Comm *comm) {
    while (comm->parts > 0) {
        EXPECT(ncclCommDestroy(comm->part[--comm->parts]));
    }
    if (comm->nccl != NULL) {
        EXPECT(ncclCommDestroy(comm->nccl));
        comm->nccl = NULL;
    }
}

/* Whether a communicator takes what this device calls memory. */
static bool takes(Comm *comm, const Device *device) {
    if (!device->host_memory) {
        return true;
    }
#ifdef CUDASIM
    EXPECT(cudasim_comm_on_host(comm->nccl));
    return true;
#else
    (void)comm;
    return false;
#endif
}

/* The simulator's settings are for programs that have no options. */
static void set_simulator(const Comm *comm) {
#ifdef CUDASIM
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%d", comm->timeout);
    setenv("CUDASIM_MPI_TIMEOUT", seconds, 0);
    setenv("CUDASIM_MPI_ORDER", comm->any_order ? "any" : "rank", 0);
#else
    (void)comm;
#endif
}

/* Whether this build has NCCL: cudasim/absent/nccl.h stands in for it where it is not installed. */
static bool is_built(const Comm *comm) {
    int version;
    bool built = ncclGetVersion(&version) == ncclSuccess;
    if (!built && comm->rank == 0) {
        fprintf(stderr, "several ranks need NCCL: build with NCCL=folder\n");
    }
    return built;
}

int comm_connect(Comm *comm, Device *device) {
    if (!is_built(comm)) {
        return -1;
    }
    set_simulator(comm);
    ncclUniqueId id = {0}, *ids = malloc((size_t)comm->size * sizeof *ids);
    CHECK(ids != NULL, "no memory for %d ids", comm->size);
    if (comm->rank == 0) {
        EXPECT(ncclGetUniqueId(&id));
    }
    comm_gather(comm, &id, sizeof id, ids);
    EXPECT(ncclCommInitRank(&comm->nccl, comm->size, ids[0], comm->rank));
    free(ids);
    comm->device = device;
    if (!takes(comm, device)) {
        fprintf(stderr, "NCCL moves the memory of GPUs alone: several ranks with --device cpu need "
                        "a build without BACKEND=cuda\n");
        return -1;
    }
    return 0;
}

void comm_use_stream(Comm *comm, void *stream) {
    comm->stream = stream;
}

static ncclDataType_t type_of(Precision type) {
    return type == F32 ? ncclFloat : type == F16 ? ncclHalf : ncclBfloat16;
}

/* The ops of the CPU are in no stream: they would not wait. */
static void settle(Comm *comm, ncclResult_t result) {
    EXPECT(result);
    if (comm->device->host_memory && comm->groups == 0) {
        cudaError_t error = cudaStreamSynchronize(comm->stream);
        CHECK(error == cudaSuccess, "%s", cudaGetErrorString(error));
    }
}

void comm_all_reduce(Comm *comm, void *data, size_t count, Precision type) {
    settle(comm,
           ncclAllReduce(data, data, count, type_of(type), ncclSum, comm->nccl, comm->stream));
}

void comm_reduce_scatter(Comm *comm, void *out, const void *in, size_t count, Precision type) {
    settle(comm,
           ncclReduceScatter(in, out, count, type_of(type), ncclSum, comm->nccl, comm->stream));
}

void comm_all_gather(Comm *comm, void *out, const void *in, size_t bytes) {
    settle(comm, ncclAllGather(in, out, bytes, ncclUint8, comm->nccl, comm->stream));
}

void comm_broadcast(Comm *comm, void *data, size_t bytes, int root) {
    settle(comm, ncclBroadcast(data, data, bytes, ncclUint8, root, comm->nccl, comm->stream));
}

void comm_send(Comm *comm, const void *data, size_t bytes, int to) {
    settle(comm, ncclSend(data, bytes, ncclUint8, to, comm->nccl, comm->stream));
}

void comm_receive(Comm *comm, void *data, size_t bytes, int from) {
    settle(comm, ncclRecv(data, bytes, ncclUint8, from, comm->nccl, comm->stream));
}

void comm_begin_group(Comm *comm) {
    comm->groups++;
    EXPECT(ncclGroupStart());
}

void comm_end_group(Comm *comm) {
    CHECK(comm->groups > 0, "no group has begun");
    comm->groups--;
    settle(comm, ncclGroupEnd());
}
