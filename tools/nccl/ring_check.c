/**
 * @file ring_check.c
 * @brief Checks the ring all-reduce: `make nccl-check` runs it, too.
 * @ingroup tools
 *
 * Its sums are compared bit by bit with a loop in the order of the ring; for whole numbers, and for
 * two ranks, with those of ncclAllReduce. Prints a checksum of all bits, which is the same on every
 * engine.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/nccl/engine.h"
#include "tools/nccl/numbers.h"
#include "tools/nccl/ring.h"

enum { MOST = 100003 };
static int failures;
static uint64_t checksum;

static void add_to_checksum(const float *x, size_t count) {
    for (size_t i = 0; i < count * sizeof *x; i++) {
        checksum = (checksum ^ ((const unsigned char *)x)[i]) * 1099511628211u;
    }
}

static float number(Numbers numbers, int rank, size_t i) {
    float x;
    number_store(&x, numbers, ncclFloat, rank, i);
    return x;
}

/* The contract of ring.h, by hand. */
static void sum_in_ring_order(float *sum, Numbers numbers, int ranks, size_t count) {
    for (int c = 0; c < ranks; c++) {
        size_t begin = count * (size_t)c / (size_t)ranks;
        size_t end = count * (size_t)(c + 1) / (size_t)ranks;
        for (size_t i = begin; i < end; i++) {
            sum[i] = number(numbers, c, i);
            for (int r = 1; r < ranks; r++) {
                sum[i] += number(numbers, (c + r) % ranks, i);
            }
        }
    }
}

static void compare(const char *what, const float *got, const float *want, int ranks,
                    size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&got[i], &want[i], sizeof got[i]) != 0) {
            failures++;
            printf("%d ranks, %zu numbers: %s has %.9g at %zu, not %.9g\n", ranks, count, what,
                   (double)got[i], i, (double)want[i]);
            return;
        }
    }
}

static void fetch(float *host, const float *x, size_t count) {
    if (count > 0) {
        CALL(cudaMemcpy(host, x, count * sizeof *x, cudaMemcpyDeviceToHost));
    }
}

static void try_count(const LocalRanks *engine, Numbers numbers, size_t count) {
    static float host[MOST], want[MOST];
    RingRank ring[8];
    float *nccl[8];
    sum_in_ring_order(want, numbers, engine->ranks, count);
    for (int i = 0; i < engine->local; i++) {
        size_t scratch = count / (size_t)engine->ranks + 1;
        engine_choose(engine, i);
        ring[i] = (RingRank){.comm = engine->comm[i], .stream = engine->stream[i]};
        CALL(cudaMalloc((void **)&ring[i].x, (count + 1) * sizeof(float)));
        CALL(cudaMalloc((void **)&ring[i].incoming, scratch * sizeof(float)));
        CALL(cudaMalloc((void **)&nccl[i], (count + 1) * sizeof(float)));
        for (size_t k = 0; k < count; k++) {
            host[k] = number(numbers, engine->first + i, k);
        }
        CALL(cudaMemcpy(ring[i].x, host, count * sizeof(float), cudaMemcpyHostToDevice));
        CALL(cudaMemcpy(nccl[i], host, count * sizeof(float), cudaMemcpyHostToDevice));
    }
    CALL(ring_all_reduce(ring, engine->local, count));
    CALL(ncclGroupStart());
    for (int i = 0; i < engine->local; i++) {
        CALL(ncclAllReduce(nccl[i], nccl[i], count, ncclFloat, ncclSum, engine->comm[i],
                           engine->stream[i]));
    }
    CALL(ncclGroupEnd());
    engine_wait(engine);
    for (int i = 0; i < engine->local; i++) {
        engine_choose(engine, i);
        fetch(host, ring[i].x, count);
        compare("the ring", host, want, engine->ranks, count);
        add_to_checksum(host, i == 0 ? count : 0);
        fetch(host, nccl[i], count);
        if (numbers == NUMBERS_WHOLE || engine->ranks <= 2) {
            compare("ncclAllReduce", host, want, engine->ranks, count);
        }
        CALL(cudaFree(ring[i].x));
        CALL(cudaFree(ring[i].incoming));
        CALL(cudaFree(nccl[i]));
    }
}

int main(int argc, char **argv) {
    static const size_t counts[] = {0, 1, 2, 7, 31, 1000, MOST};
    int least, most;
    engine_begin(&argc, &argv);
    engine_ranks(&least, &most);
    if (argc > 1) {
        char *end;
        long ranks = strtol(argv[1], &end, 10);
        if (argc > 2 || end == argv[1] || *end != '\0' || ranks < least || ranks > most) {
            fprintf(stderr, "usage: ring_check [RANKS]   (from %d to %d)\n", least, most);
            engine_end(2);
        }
        least = most = (int)ranks;
    }
    for (int ranks = least; ranks <= most; ranks++) {
        LocalRanks engine = engine_open(ranks);
        checksum = 14695981039346656037u;
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            try_count(&engine, NUMBERS_WHOLE, counts[k]);
            try_count(&engine, NUMBERS_FRACTION, counts[k]);
        }
        engine_close(&engine);
        if (engine_speaks()) {
            printf("ring: %d ranks, bits %016llx\n", ranks, (unsigned long long)checksum);
        }
    }
    engine_end(failures > 0);
}
