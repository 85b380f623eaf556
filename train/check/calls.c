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
typedef struct CallCheck {
    Comm *comm;
    Device *device;
    int rank, ranks;
    float *host;  /* (ranks * LONGEST) */
    float *a, *b; /* (ranks * LONGEST) of the device */
} CallCheck;

static void fill(CallCheck *calls, float *to, int r, size_t n) {
    for (size_t i = 0; i < n; i++) {
        calls->host[i] = value(r, i);
    }
    device_upload(calls->device, to, calls->host, n * sizeof(float));
}

static void expect(CallCheck *calls, const float *data, const float *want, size_t n,
                   const char *what) {
    device_download(calls->device, calls->host, data, n * sizeof(float));
    CHECK(memcmp(calls->host, want, n * sizeof(float)) == 0, "%s of %zu elements on rank %d of %d",
          what, n, calls->rank, calls->ranks);
}

static float sum(int ranks, size_t i) {
    float total = value(0, i);
    for (int r = 1; r < ranks; r++) {
        total += value(r, i);
    }
    return total;
}

static void check_sums(CallCheck *calls, float *want, size_t n) {
    for (size_t i = 0; i < n; i++) {
        want[i] = sum(calls->ranks, i);
    }
    fill(calls, calls->a, calls->rank, n);
    comm_all_reduce(calls->comm, calls->a, n, F32);
    expect(calls, calls->a, want, n, "all-reduce");

    size_t part = n / (size_t)calls->ranks, mine = part * (size_t)calls->rank;
    fill(calls, calls->a, calls->rank, n);
    comm_reduce_scatter(calls->comm, calls->b, calls->a, part, F32);
    expect(calls, calls->b, want + mine, part, "reduce-scatter");
    comm_reduce_scatter(calls->comm, calls->a + mine, calls->a, part, F32);
    expect(calls, calls->a + mine, want + mine, part, "reduce-scatter in place");
}

static void check_copies(CallCheck *calls, float *want, size_t n) {
    size_t bytes = n * sizeof(float);
    for (int r = 0; r < calls->ranks; r++) {
        for (size_t i = 0; i < n; i++) {
            want[(size_t)r * n + i] = value(r, i);
        }
    }
    fill(calls, calls->a, calls->rank, n);
    comm_all_gather(calls->comm, calls->b, calls->a, bytes);
    expect(calls, calls->b, want, n * (size_t)calls->ranks, "all-gather");

    int root = calls->ranks - 1;
    comm_broadcast(calls->comm, calls->a, bytes, root);
    expect(calls, calls->a, want + (size_t)root * n, n, "broadcast");

    int next = (calls->rank + 1) % calls->ranks, last = (calls->rank + root) % calls->ranks;
    fill(calls, calls->a, calls->rank, n);
    comm_begin_group(calls->comm);
    comm_send(calls->comm, calls->a, bytes, next);
    comm_receive(calls->comm, calls->b, bytes, last);
    comm_end_group(calls->comm);
    expect(calls, calls->b, want + (size_t)last * n, n, "send and receive");
}

/* Each is its rank's number: the sums are whole, and exact in half. */
static void check_halves(CallCheck *calls) {
    for (Precision type = F16; type <= BF16; type++) {
        uint16_t number[3], want = 0;
        float total = (float)(calls->ranks * (calls->ranks - 1) / 2);
        want = type == F16 ? half_from_float(total) : bf16_from_float(total);
        for (int i = 0; i < 3; i++) {
            float mine = (float)calls->rank;
            number[i] = type == F16 ? half_from_float(mine) : bf16_from_float(mine);
        }
        device_upload(calls->device, calls->a, number, sizeof number);
        comm_all_reduce(calls->comm, calls->a, 3, type);
        device_download(calls->device, number, calls->a, sizeof number);
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
    CallCheck calls = {comm, device, comm_rank(comm), comm_size(comm), NULL, NULL, NULL};
    size_t room = (size_t)calls.ranks * LONGEST * sizeof(float);
    float *want = malloc(room);
    calls.host = malloc(room);
    calls.a = device_alloc(device, room);
    calls.b = device_alloc(device, room);
    CHECK(want && calls.host && calls.a && calls.b, "no memory for %zu bytes", room);
    check_host(comm);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_sums(&calls, want, sizes[i]);
        check_copies(&calls, want, sizes[i]);
    }
    check_halves(&calls);
    device_release(device, calls.b, room);
    device_release(device, calls.a, room);
    free(calls.host);
    free(want);
}
