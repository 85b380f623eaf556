/* Lab 11: an all-reduce of sends and receives. The contracts are in
   labs/11_data_parallel/contract.h. */
#include <cuda_runtime.h>

#include "common/lab.h"
#include "labs/11_data_parallel/contract.h"

#define EXPECT(call) CHECK((call) == ncclSuccess, "NCCL: %s", ncclGetLastError(NULL))

/* The first number of a chunk; chunk R would begin where the array ends. */
static size_t chunk_begin(size_t count, int chunk, int ranks) {
#ifndef STUB
    return chunk == ranks ? count : count * (size_t)chunk / (size_t)ranks / 4 * 4;
#else
    (void)count, (void)chunk, (void)ranks;
    TODO("task 1: count c / R, and a multiple of 4 (1 line)");
#endif
}

static int modulo(int chunk, int ranks) {
    return (chunk % ranks + ranks) % ranks;
}

static size_t chunk_count(size_t count, int chunk, int ranks) {
    return chunk_begin(count, chunk + 1, ranks) - chunk_begin(count, chunk, ranks);
}

/* One step: chunk `sent` goes to the next rank, and the one before it comes from the last. */
static void pass_on(ncclComm_t comm, float *x, size_t count, int sent, float *to) {
    int rank, ranks;
    EXPECT(ncclCommUserRank(comm, &rank));
    EXPECT(ncclCommCount(comm, &ranks));
#ifndef STUB
    int out = modulo(sent, ranks), in = modulo(sent - 1, ranks);
    EXPECT(ncclGroupStart());
    EXPECT(ncclSend(x + chunk_begin(count, out, ranks), chunk_count(count, out, ranks), ncclFloat,
                    modulo(rank + 1, ranks), comm, 0));
    EXPECT(
        ncclRecv(to, chunk_count(count, in, ranks), ncclFloat, modulo(rank - 1, ranks), comm, 0));
    EXPECT(ncclGroupEnd());
#else
    (void)x, (void)count, (void)sent, (void)to, (void)modulo, (void)chunk_count;
    TODO("task 1: send and receive, side by side (about 6 lines)");
#endif
}

void ring_all_reduce(Device *device, ncclComm_t comm, float *x, size_t count, float *incoming) {
    int rank, ranks;
    EXPECT(ncclCommUserRank(comm, &rank));
    EXPECT(ncclCommCount(comm, &ranks));
#ifndef STUB
    for (int s = 0; s < ranks - 1; s++) {
        int in = modulo(rank - s - 1, ranks);
        pass_on(comm, x, count, rank - s, incoming);
        if (device->host_memory) {
            cudaStreamSynchronize(0);
        }
        device->ops[F32].axpby((Real *)(x + chunk_begin(count, in, ranks)), (Real *)incoming,
                               chunk_count(count, in, ranks), 1, 1);
    }
    for (int s = 0; s < ranks - 1; s++) {
        int in = modulo(rank - s, ranks);
        pass_on(comm, x, count, rank - s + 1, x + chunk_begin(count, in, ranks));
    }
    if (device->host_memory) {
        cudaStreamSynchronize(0);
    }
#else
    (void)device, (void)x, (void)count, (void)incoming, (void)pass_on;
    TODO("task 1: R - 1 steps in which sums grow, R - 1 in which they are handed on (18 lines)");
#endif
}

size_t ring_scratch(size_t count, int ranks) {
#ifndef STUB
    size_t largest = chunk_count(count, 0, ranks);
    for (int c = 1; c < ranks; c++) {
        size_t numbers = chunk_count(count, c, ranks);
        largest = numbers > largest ? numbers : largest;
    }
    return largest;
#else
    (void)count, (void)ranks;
    TODO("task 1: numbers of the largest chunk (about 5 lines)");
#endif
}

size_t ring_sent(size_t count, int rank, int ranks) {
#ifndef STUB
    size_t kept = chunk_count(count, modulo(rank + 1, ranks), ranks) +
                  chunk_count(count, modulo(rank + 2, ranks), ranks);
    return (2 * count - kept) * sizeof(float);
#else
    (void)count, (void)rank, (void)ranks;
    TODO("task 5: all chunks twice, but for one each time (about 3 lines)");
#endif
}
