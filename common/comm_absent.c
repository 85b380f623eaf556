/* In place of comm_nccl.c in a build with BACKEND=cuda and without NCCL: a run has one rank, and
   comm_connect() says why. */
#ifdef NO_NCCL
#include <stdio.h>

#include "common/comm_inside.h"

void comm_disconnect(Comm *comm) {
    (void)comm;
}

int comm_connect(Comm *comm, Device *device) {
    comm->device = device;
    if (comm->rank == 0) {
        fprintf(stderr, "several ranks need NCCL: build with NCCL=folder\n");
    }
    return -1;
}

#define ABSENT CHECK(false, "this build has no NCCL: comm_connect() has said so")

void comm_use_stream(Comm *comm, void *stream) {
    (void)comm, (void)stream;
    ABSENT;
}

void comm_all_reduce(Comm *comm, void *data, size_t count, Precision type) {
    (void)comm, (void)data, (void)count, (void)type;
    ABSENT;
}

void comm_reduce_scatter(Comm *comm, void *out, const void *in, size_t count, Precision type) {
    (void)comm, (void)out, (void)in, (void)count, (void)type;
    ABSENT;
}

void comm_all_gather(Comm *comm, void *out, const void *in, size_t bytes) {
    (void)comm, (void)out, (void)in, (void)bytes;
    ABSENT;
}

void comm_broadcast(Comm *comm, void *data, size_t bytes, int root) {
    (void)comm, (void)data, (void)bytes, (void)root;
    ABSENT;
}

void comm_send(Comm *comm, const void *data, size_t bytes, int to) {
    (void)comm, (void)data, (void)bytes, (void)to;
    ABSENT;
}

void comm_receive(Comm *comm, void *data, size_t bytes, int from) {
    (void)comm, (void)data, (void)bytes, (void)from;
    ABSENT;
}

void comm_begin_group(Comm *comm) {
    (void)comm;
    ABSENT;
}

void comm_end_group(Comm *comm) {
    (void)comm;
    ABSENT;
}
#endif
