/* Times one op: a ring of tensors, rounds of calls, medians. The contract is in timing.h. */
#include "tools/bench/timing.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/rng.h"
#include "train/measure.h"

enum { NOISE = 1 << 16 };

void *timing_alloc(Device *device, size_t bytes) {
    void *data = device_alloc(device, bytes);
    if (data == NULL) {
        fprintf(stderr, "the %s has no %.1f MiB left\n", device->name, memory_mib(bytes));
        exit(1);
    }
    return data;
}

static size_t padded(size_t bytes) {
    return (bytes + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
}

typedef void call_fn(void *context, int call);

/* Time of a call, in ms. Calls are queued one after the other, as in a training step; the clock
   stops when the device has done all of them. */
static double time_round(const Timing *timing, call_fn *call, void *context, int calls) {
    double begin = now_ms();
    for (int i = 0; i < calls; i++) {
        call(context, i);
    }
    device_synchronize(timing->device);
    return (now_ms() - begin) / calls;
}

/* Warms up, and counts the calls that fill a round. */
static int calls_of_round(const Timing *timing, call_fn *call, void *context) {
    int calls = 1;
    for (int warm_up = 0; warm_up < 2; warm_up++) {
        double one = time_round(timing, call, context, calls);
        double enough = timing->effort.round_ms / (one > 1e-3 ? one : 1e-3);
        calls = enough < 1 ? 1 : enough > 5000 ? 5000 : (int)enough;
    }
    return calls;
}

/* Median time of a call, in ms. */
static double time_calls(const Timing *timing, call_fn *call, void *context) {
    double ms[TIMING_ROUNDS];
    int calls = calls_of_round(timing, call, context);
    for (int round = 0; round < TIMING_ROUNDS; round++) {
        ms[round] = time_round(timing, call, context, calls);
    }
    return median(ms, TIMING_ROUNDS);
}

/* From device to device, in the order of the ops. */
static void copy(Device *device, void *to, const void *from, size_t bytes) {
    enum { PIECE = 1 << 20 };
    if (!device->host_memory) {
        cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0);
        CHECK(error == cudaSuccess, "copy: %s", cudaGetErrorString(error));
        return;
    }
#pragma omp parallel for
    for (size_t first = 0; first < bytes; first += PIECE) {
        size_t left = bytes - first;
        memcpy((char *)to + first, (const char *)from + first, left < PIECE ? left : PIECE);
    }
}

static size_t argument_bytes(const Argument *argument, Precision precision) {
    switch (argument->content) {
    case REALS:
        return argument->count * precision_bytes(precision);
    case FLOATS:
        return argument->count * sizeof(float);
    case IDS:
        return argument->count * sizeof(int32_t);
    case CODES:
        return argument->count;
    case ENTRY:
        return sizeof(TensorEntry);
    case MOMENT:
        return sizeof(Moment8);
    default:
        return 0;
    }
}

static void fill_ids(Device *device, void *data, size_t count, int V) {
    int32_t *ids = malloc(count * sizeof *ids);
    CHECK(ids != NULL, "no memory for %zu tokens", count);
    /* A prime that does not divide V reaches every token once, and neighbours are far apart. */
    const uint64_t prime = 7919;
    CHECK(V % (int)prime != 0, "V = %d is a multiple of 7919", V);
    for (size_t i = 0; i < count; i++) {
        ids[i] = (int32_t)(i * prime % (uint64_t)V);
    }
    device_upload(device, data, ids, count * sizeof *ids);
    free(ids);
}

static void fill_entry(Device *device, void **tensors, const Case *item, int number) {
    size_t of = item->arguments[number].count;
    TensorEntry entry = {tensors[of], item->arguments[of].count, 0, true};
    device_upload(device, tensors[number], &entry, sizeof entry);
}

static void fill_moment(Device *device, void **tensors, const Case *item, int number) {
    size_t of = item->arguments[number].count;
    Moment8 moment = {tensors[of], tensors[of + 1], NULL};
    device_upload(device, tensors[number], &moment, sizeof moment);
}

/* Zeros would do for the time of a copy, but a product of zeros needs less power, and so runs at a
   higher clock, than one of numbers. */
static void fill(const Timing *timing, void *data, const Argument *argument, const CasePlace *place,
                 Precision precision) {
    if (argument->content == IDS) {
        fill_ids(timing->device, data, argument->count, place->shape.V);
        return;
    }
    bool reals = argument->content == REALS;
    size_t size = reals                        ? precision_bytes(precision)
                  : argument->content == CODES ? 1
                                               : sizeof(float);
    for (size_t first = 0; first < argument->count; first += NOISE) {
        size_t left = argument->count - first, count = left < NOISE ? left : NOISE;
        void *to = (char *)data + first * size;
        if (reals) {
            place->ops->cast_from_float(to, timing->centered, count);
        } else {
            copy(timing->device, to, timing->noise, count * size);
        }
    }
}

/* Copies of a case's tensors: a call takes the next one, so that it finds nothing in a cache but
   what it has brought there itself. */
typedef struct Ring {
    const Case *item;
    const CasePlace *place;
    char *data;
    size_t bytes; /* of all tensors of one copy */
    int copies;
    Precision precision;
} Ring;

/* Enough copies to move ring_bytes, capped, because one call touches only part of a table. */
static int copies(const Timing *timing, const Case *item, size_t bytes) {
    size_t ring_bytes = timing->effort.ring_bytes,
           moved = item->cost.bytes > 0 ? (size_t)item->cost.bytes : bytes;
    size_t wanted = ring_bytes / moved + 1, most = 4 * ring_bytes / bytes + 1;
    return (int)(wanted < most ? wanted : most);
}

static void take(const Ring *ring, int number, void **tensors) {
    char *next = ring->data + (size_t)(number % ring->copies) * ring->bytes;
    for (int i = 0; i < CASE_ARGUMENTS; i++) {
        const Argument *argument = &ring->item->arguments[i];
        tensors[i] = argument->content == NOTHING ? NULL : next;
        next += padded(argument_bytes(argument, ring->precision));
    }
}

static void call_case(void *context, int call) {
    const Ring *ring = context;
    void *tensors[CASE_ARGUMENTS];
    take(ring, call, tensors);
    ring->item->run(ring->item, ring->place, tensors);
}

static Ring ring_new(const Timing *timing, const Case *item, const CasePlace *place,
                     Precision precision) {
    Ring ring = {.item = item, .place = place, .precision = precision};
    for (int i = 0; i < CASE_ARGUMENTS; i++) {
        ring.bytes += padded(argument_bytes(&item->arguments[i], precision));
    }
    ring.copies = copies(timing, item, ring.bytes);
    ring.data = timing_alloc(timing->device, ring.bytes * (size_t)ring.copies);
    for (int number = 0; number < ring.copies; number++) {
        void *tensors[CASE_ARGUMENTS];
        take(&ring, number, tensors);
        for (int i = 0; i < CASE_ARGUMENTS; i++) {
            const Argument *argument = &item->arguments[i];
            if (argument->content == ENTRY) {
                fill_entry(timing->device, tensors, item, i);
            } else if (argument->content == MOMENT) {
                fill_moment(timing->device, tensors, item, i);
            } else if (tensors[i] != NULL) {
                fill(timing, tensors[i], argument, place, precision);
            }
        }
    }
    return ring;
}

static void ring_free(const Timing *timing, Ring *ring) {
    device_release(timing->device, ring->data, ring->bytes * (size_t)ring->copies);
}

double timing_case(const Timing *timing, const Case *item, const CasePlace *place,
                   Precision precision) {
    Ring ring = ring_new(timing, item, place, precision);
    double ms = time_calls(timing, call_case, &ring);
    ring_free(timing, &ring);
    return ms;
}

double timing_ratio(const Timing *timing, const Case *item, const Case *other,
                    const CasePlace *place, Precision precision) {
    Ring rings[] = {ring_new(timing, item, place, precision),
                    ring_new(timing, other, place, precision)};
    double ratio[TIMING_TURNS];
    int calls[2];
    for (int i = 0; i < 2; i++) {
        calls[i] = calls_of_round(timing, call_case, &rings[i]);
    }
    for (int turn = 0; turn < TIMING_TURNS; turn++) {
        double ms[2];
        for (int i = 0; i < 2; i++) {
            ms[i] = time_round(timing, call_case, &rings[i], calls[i]);
        }
        ratio[turn] = ms[0] / ms[1];
    }
    for (int i = 0; i < 2; i++) {
        ring_free(timing, &rings[i]);
    }
    return median(ratio, TIMING_TURNS);
}

typedef struct Copy {
    Device *device;
    char *to, *from;
    size_t bytes;
} Copy;

static void call_copy(void *context, int call) {
    const Copy *c = context;
    (void)call;
    copy(c->device, c->to, c->from, c->bytes);
}

double timing_copy_rate(const Timing *timing) {
    size_t bytes = timing->effort.copy_bytes;
    char *data = timing_alloc(timing->device, 2 * bytes);
    device_fill(timing->device, data, 1, 2 * bytes);
    Copy c = {timing->device, data + bytes, data, bytes};
    double ms = time_calls(timing, call_copy, &c);
    device_release(timing->device, data, 2 * bytes);
    return 2 * (double)bytes / ms;
}

static void call_square(const Case *self, const CasePlace *place, void **t) {
    place->ops->matmul_forward(t[0], t[1], t[2], NULL, self->C, self->C, self->C, self->C,
                               &place->workspace);
}

double timing_matmul_rate(const Timing *timing, const CasePlace *place, Precision precision) {
    int side = timing->effort.side;
    Argument square = {REALS, (size_t)side * side};
    Case item = {
        .op = "matmul", .run = call_square, .C = side, .arguments = {square, square, square}};
    return 2.0 * side * side * side / timing_case(timing, &item, place, precision);
}

Timing timing_new(Device *device, Effort effort) {
    Timing timing = {.device = device, .effort = effort};
    size_t bytes = NOISE * sizeof(float);
    float *host = malloc(bytes);
    CHECK(host != NULL, "no memory for random numbers");
    timing.noise = timing_alloc(device, bytes);
    timing.centered = timing_alloc(device, bytes);
    Rng rng = rng_new(1, RNG_DATA);
    for (int i = 0; i < NOISE; i++) {
        host[i] = rng_uniform(&rng);
    }
    device_upload(device, timing.noise, host, bytes);
    for (int i = 0; i < NOISE; i++) {
        host[i] -= 0.5f;
    }
    device_upload(device, timing.centered, host, bytes);
    free(host);
    return timing;
}
