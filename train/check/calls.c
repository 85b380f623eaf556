/* The calls of comm.h, each with numbers that say where they come from. */
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"
#include "train/check/ranks.h"

enum { LONGEST = 1013 }; /* elements: nothing divides it */

/* Element i of rank r: not a whole number, so that the order of a sum shows; and one operation, of
   which no compiler makes another. */
static float value(int r, size_t i) {
    return (float)(((size_t)r * 7919 + i * 37) % 1000) / 7.0f;
}

/* Tensors are allocated and released as on a stack. */
typedef struct Trial {
    Comm *comm;
    Device *device;
    int rank, ranks;
    float *host;  /* (ranks * LONGEST) */
    float *a, *b; /* (ranks * LONGEST) of the device */
} Trial;

static void fill(Trial *bench, float *to, int r, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bench->host[i] = value(r, i);
    }
    device_upload(bench->device, to, bench->host, n * sizeof(float));
}

static void expect(Trial *bench, const float *data, const float *want, size_t n, const char *what) {
    device_download(bench->device, bench->host, data, n * sizeof(float));
    CHECK(memcmp(bench->host, want, n * sizeof(float)) == 0, "%s of %zu elements on rank %d of %d",
          what, n, bench->rank, bench->ranks);
}

static float sum(int ranks, size_t i) {
    float total = value(0, i);
    for (int r = 1; r < ranks; r++) {
        total += value(r, i);
    }
    return total;
}

static void check_sums(Trial *bench, float *want, size_t n) {
    for (size_t i = 0; i < n; i++) {
        want[i] = sum(bench->ranks, i);
    }
    fill(bench, bench->a, bench->rank, n);
    comm_all_reduce(bench->comm, bench->a, n, F32);
    expect(bench, bench->a, want, n, "all-reduce");

    size_t part = n / (size_t)bench->ranks, mine = part * (size_t)bench->rank;
    fill(bench, bench->a, bench->rank, n);
    comm_reduce_scatter(bench->comm, bench->b, bench->a, part, F32);
    expect(bench, bench->b, want + mine, part, "reduce-scatter");
    comm_reduce_scatter(bench->comm, bench->a + mine, bench->a, part, F32);
    expect(bench, bench->a + mine, want + mine, part, "reduce-scatter in place");
}

static void check_copies(Trial *bench, float *want, size_t n) {
    size_t bytes = n * sizeof(float);
    for (int r = 0; r < bench->ranks; r++) {
        for (size_t i = 0; i < n; i++) {
            want[(size_t)r * n + i] = value(r, i);
        }
    }
    fill(bench, bench->a, bench->rank, n);
    comm_all_gather(bench->comm, bench->b, bench->a, bytes);
    expect(bench, bench->b, want, n * (size_t)bench->ranks, "all-gather");

    int root = bench->ranks - 1;
    comm_broadcast(bench->comm, bench->a, bytes, root);
    expect(bench, bench->a, want + (size_t)root * n, n, "broadcast");

    int next = (bench->rank + 1) % bench->ranks, last = (bench->rank + root) % bench->ranks;
    fill(bench, bench->a, bench->rank, n);
    comm_begin_group(bench->comm);
    comm_send(bench->comm, bench->a, bytes, next);
    comm_receive(bench->comm, bench->b, bytes, last);
    comm_end_group(bench->comm);
    expect(bench, bench->b, want + (size_t)last * n, n, "send and receive");
}

/* Each is its rank's number: the sums are whole, and exact in half. */
static void check_halves(Trial *bench) {
    for (Precision type = F16; type <= BF16; type++) {
        uint16_t number[3], want = 0;
        float total = (float)(bench->ranks * (bench->ranks - 1) / 2);
        want = type == F16 ? half_from_float(total) : bf16_from_float(total);
        for (int i = 0; i < 3; i++) {
            float mine = (float)bench->rank;
            number[i] = type == F16 ? half_from_float(mine) : bf16_from_float(mine);
        }
        device_upload(bench->device, bench->a, number, sizeof number);
        comm_all_reduce(bench->comm, bench->a, 3, type);
        device_download(bench->device, number, bench->a, sizeof number);
        for (int i = 0; i < 3; i++) {
            CHECK(number[i] == want, "all-reduce of %s: %#x, not %#x", precision_name(type),
                  number[i], want);
        }
    }
}

static void check_host(Comm *comm) {
    int mine = 7 * comm_rank(comm), all[64];
    comm_gather(comm, &mine, sizeof mine, all);
    for (int r = 0; r < comm_size(comm); r++) {
        CHECK(all[r] == 7 * r, "gather: %d of rank %d", all[r], r);
    }
    comm_barrier(comm);
}

void check_calls(Comm *comm, Device *device) {
    static const size_t sizes[] = {1, 31, LONGEST};
    Trial bench = {comm, device, comm_rank(comm), comm_size(comm), NULL, NULL, NULL};
    size_t room = (size_t)bench.ranks * LONGEST * sizeof(float);
    float *want = malloc(room);
    bench.host = malloc(room);
    bench.a = device_alloc(device, room);
    bench.b = device_alloc(device, room);
    CHECK(want && bench.host && bench.a && bench.b, "no memory for %zu bytes", room);
    check_host(comm);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_sums(&bench, want, sizes[i]);
        check_copies(&bench, want, sizes[i]);
    }
    check_halves(&bench);
    device_release(device, bench.b, room);
    device_release(device, bench.a, room);
    free(bench.host);
    free(want);
}
