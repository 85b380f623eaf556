/* Lab 08 in the probe: batches through the submission's prefetch; part_offload.c has the passes
   that it offloads. */
#include <cuda_runtime.h>
#include <cudasim_left.h>
#include <cudasim_record.h>
#include <malloc.h>
#include <string.h>

#include "grader/labs/08_prefetch/part_left.h"
#include "grader/labs/08_prefetch/part_offload.h"
#include "grader/probe.h"
#include "grader/probe_events.h"
#include "grader/probe_heap.h"
#include "labs/08_prefetch/contract.h"

/* A run of batches. */
typedef struct Feed {
    const Wire *in;
    Device *device;
    Memory *memory;
    float *scratch;             /* what the work touches */
    int32_t *back;              /* copies of all batches that were handed out */
    size_t back_used, back_all; /* numbers of it */
    cudaStream_t marks;         /* what the host gives to it knows what the host knows */
    cudaEvent_t mark;
    int calls;
} Feed;

enum { WORK_NUMBERS = 64 };

static int32_t feed_option(const Feed *feed, int which) {
    return ((const int32_t *)wire_get(feed->in, "options", WIRE_I32, NULL))[which];
}

static bool is_pinned(const void *p) {
    struct cudaPointerAttributes kind = {0};
    cudaPointerGetAttributes(&kind, p);
    return kind.type == cudaMemoryTypeHost;
}

/* The reader: what the judge says, into memory of the submission. */
static int feed_read(void *context, int32_t *tokens, int32_t *targets, Batch *batch) {
    Feed *feed = context;
    size_t count;
    const int32_t *reads = wire_get(feed->in, "reads", WIRE_I32, &count);
    CHECK(feed->calls < (int)count, "the reader is called %d times, and has ended", feed->calls);
    int32_t which = reads[feed->calls++];
    event_tell(is_pinned(tokens) ? TOLD_PINNED : TOLD_PAGEABLE);
    if (which < 0) { /* it has begun a batch that it could not end */
        tokens[0] = targets[0] = SEEN_BEFORE - 1;
        *batch = (Batch){.B = SEEN_BEFORE - 1, .T = 1};
        return which == READ_END ? 0 : -1;
    }
    *batch = given_batch(feed->in, which);
    size_t bytes = (size_t)batch->B * (size_t)batch->T * sizeof *tokens;
    memcpy(tokens, batch->tokens, bytes);
    memcpy(targets, batch->targets, bytes);
    return 1;
}

/* Two more readers of the batch, in the default stream. */
static void feed_copy_back(Feed *feed, const Batch *batch) {
    size_t N = (size_t)batch->B * (size_t)batch->T;
    if (batch->B < 1 || batch->T < 1 || feed->back_used + 2 * N > feed->back_all) {
        return;
    }
    int32_t *to = feed->back + feed->back_used;
    cudaMemcpyAsync(to, batch->tokens, N * sizeof *to, cudaMemcpyDeviceToDevice, 0);
    cudaMemcpyAsync(to + N, batch->targets, N * sizeof *to, cudaMemcpyDeviceToDevice, 0);
    feed->back_used += 2 * N;
}

/* As a step does: forward, the loss, backward. */
static void feed_work(Feed *feed, const Batch *batch) {
    cudasim_op_begin(WORK_NAME, 0, 1024.0 * feed_option(feed, FEED_WORK), CUDASIM_F32);
    ops_gpu[F32].gelu_forward((Real *)feed->scratch, (Real *)feed->scratch, NULL, 1, WORK_NUMBERS);
    cudasim_op_end();
    if (feed_option(feed, FEED_LOSS)) {
        float loss;
        device_download(feed->device, &loss, feed->scratch, sizeof loss);
    }
    if (feed_option(feed, FEED_COPY_BACK)) {
        feed_copy_back(feed, batch);
    }
}

/* Before the work touches it. */
static void expect_on_device(const Batch *batch) {
    if (batch->B == SEEN_BEFORE && batch->tokens == NULL) {
        probe_lost("prefetch_next() gives 1, and has left `batch` as it was");
    }
    if (!batch->on_device) {
        probe_lost("prefetch_next() gives a batch that is not marked as one on the device: "
                   "batch->on_device");
    }
}

static void feed_act(Feed *feed, Prefetch *prefetch, int32_t action, int32_t *seen) {
    Batch batch = {.B = SEEN_BEFORE, .T = SEEN_BEFORE, .valid = SEEN_BEFORE};
    if (action == ACTION_STOP) {
        prefetch_stop(prefetch);
    } else {
        seen[SEEN_RESULT] = prefetch_next(prefetch, &batch);
    }
    seen[SEEN_B] = batch.B;
    seen[SEEN_T] = batch.T;
    seen[SEEN_VALID] = batch.valid;
    seen[SEEN_CALLS] = feed->calls;
    if (seen[SEEN_RESULT] == 1) {
        expect_on_device(&batch);
        feed_work(feed, &batch);
    } else {
        cudaEventRecord(feed->mark, feed->marks);
    }
}

static void feed_open(Feed *feed, const Wire *in, const Wire *out) {
    cudasim_record_begin();
    *feed = (Feed){.in = in, .device = probe_device(true, 0)};
    feed->memory = memory_new(feed->device, (MemoryOptions){0});
    wire_get(out, "back", WIRE_I32, &feed->back_all);
    feed->scratch = memory_alloc_zero(feed->memory, MEMORY_WORKSPACE, "scratch", -1,
                                      WORK_NUMBERS * sizeof *feed->scratch);
    feed->back = memory_alloc_zero(feed->memory, MEMORY_WORKSPACE, "back", -1,
                                   feed->back_all * sizeof *feed->back);
    cudaStreamCreateWithFlags(&feed->marks, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&feed->mark, cudaEventDisableTiming);
}

enum { LARGE_TOKENS = 1 << 20, BESIDE_BATCHES = 3 };

/* Opened once, and closed: more than an array by heart may have room for. */
enum { MANY_SLOTS = 100 };

/* Batches of one token, without end. */
static int small_read(void *context, int32_t *tokens, int32_t *targets, Batch *batch) {
    (void)context;
    tokens[0] = targets[0] = 0;
    *batch = (Batch){.B = 1, .T = 1, .valid = 1};
    return 1;
}

typedef struct SmallFeed {
    Device *device;
    int slots;
    bool pinned, next;
} SmallFeed;

/* Where a batch is asked for, its copy may be on its way when all is closed. */
static void small_open_and_close(void *context) {
    const SmallFeed *small = context;
    Memory *memory = memory_new(small->device, (MemoryOptions){0});
    Prefetch *prefetch =
        prefetch_open(memory, small->slots, 1, small->pinned, (BatchReader){small_read, NULL});
    Batch batch;
    if (small->next) {
        prefetch_next(prefetch, &batch);
    }
    prefetch_close(prefetch);
    memory_free(memory);
}

static uint64_t small_left(SmallFeed *small) {
    small->device = probe_device(true, 0);
    uint64_t left = left_by_each(small_open_and_close, small);
    device_free(small->device);
    return left;
}

/* One that was opened and closed before leaves nothing for the next one, and no memory: of many
   slots, or of a large one. */
static void feed_open_and_close(Feed *feed, bool pinned, uint64_t *bytes) {
    uint64_t before = heap_bytes();
    size_t tokens = pinned ? 1 : LARGE_TOKENS;
    int slots = pinned ? MANY_SLOTS : 1;
    Memory *memory = memory_new(feed->device, (MemoryOptions){0});
    prefetch_close(prefetch_open(memory, slots, tokens, pinned, (BatchReader){feed_read, feed}));
    bytes[BYTES_LEFT] = memory_lane_now(memory_lane(memory, "slots"));
    memory_free(memory);
    bytes[BYTES_HEAP] = heap_since(before) / (8 * LARGE_TOKENS);
}

/* Another one, as many slots, open while one is in use: they share nothing. It is closed later than
   the one, for to close it the host may wait for the device. */
typedef struct Beside {
    Memory *memory;
    Prefetch *prefetch;
    size_t pinned;
    int32_t *back; /* a token of each batch, on the device */
    int read, given;
} Beside;

/* Batch i has one token, which is i; after a few it ends. */
static int beside_read(void *context, int32_t *tokens, int32_t *targets, Batch *batch) {
    Beside *beside = context;
    if (beside->read == BESIDE_BATCHES) {
        return 0;
    }
    tokens[0] = targets[0] = beside->read++;
    *batch = (Batch){.B = 1, .T = 1, .valid = 1};
    return 1;
}

static void beside_open(Beside *beside, const Feed *feed, bool pinned) {
    beside->memory = memory_new(feed->device, (MemoryOptions){0});
    beside->back = memory_alloc_zero(beside->memory, MEMORY_WORKSPACE, "back", -1,
                                     BESIDE_BATCHES * sizeof *beside->back);
    size_t before = cudasim_left().pinned;
    beside->prefetch = prefetch_open(beside->memory, feed_option(feed, FEED_SLOTS), 1, pinned,
                                     (BatchReader){beside_read, beside});
    beside->pinned = cudasim_left().pinned - before;
}

/* That it ends is task 3, and asked of no hand-in of which the first does not end. */
static void beside_next(Beside *beside, bool ended) {
    Batch batch = {0};
    bool more = beside->given < BESIDE_BATCHES;
    if (!more && !ended) {
        return;
    }
    int result = prefetch_next(beside->prefetch, &batch);
    CHECK(result == more, "another prefetch, open beside the first, has %s, and gives %d",
          more ? "a batch" : "ended", result);
    if (more) {
        CHECK(batch.B == 1 && batch.T == 1,
              "a batch of another prefetch, open beside the first, is "
              "(%d, %d), and not (1, 1)",
              batch.B, batch.T);
        cudaMemcpyAsync(beside->back + beside->given++, batch.tokens, sizeof *beside->back,
                        cudaMemcpyDeviceToDevice, 0);
    }
}

static void beside_close(const Beside *beside) {
    int32_t back[BESIDE_BATCHES];
    device_download(memory_device(beside->memory), back, beside->back, sizeof back);
    for (int i = 0; i < beside->given; i++) {
        CHECK(back[i] == i,
              "another prefetch, open beside the first: its batch %d has the token "
              "%d, and not %d",
              i + 1, back[i], i);
    }
    prefetch_close(beside->prefetch);
    prefetch_close(NULL);
    memory_free(beside->memory);
}

static void feed_all(const Wire *in, Wire *out, bool pinned) {
    mallopt(M_PERTURB, PERTURBED);
    Feed feed = {.in = in};
    uint64_t *bytes = wire_get(out, "bytes", WIRE_U64, NULL);
    bool again = feed_option(&feed, FEED_AGAIN);
    SmallFeed small = {.slots = feed_option(&feed, FEED_SLOTS), .pinned = pinned};
    bytes[BYTES_EACH] = again ? small_left(&small) : 0;
    feed_open(&feed, in, out);
    size_t actions;
    const int32_t *action = wire_get(in, "actions", WIRE_I32, &actions);
    int32_t *seen = wire_get(out, "seen", WIRE_I32, NULL);
    CudasimLeft before = cudasim_left();
    bytes[BYTES_HEAP] = bytes[BYTES_LEFT] = 0;
    if (again) {
        feed_open_and_close(&feed, pinned, bytes);
    }
    Prefetch *prefetch = prefetch_open(feed.memory, feed_option(&feed, FEED_SLOTS),
                                       (size_t)feed_option(&feed, FEED_TOKENS), pinned,
                                       (BatchReader){feed_read, &feed});
    Beside beside = {0};
    CHECK(feed.calls == 0, "the reader is called before prefetch_next() is called");
    for (size_t i = 0; i < actions; i++) {
        memset(seen + i * SEEN_NUMBERS, 0, SEEN_NUMBERS * sizeof *seen);
        feed_act(&feed, prefetch, action[i], seen + i * SEEN_NUMBERS);
        if (again && i == 0) {
            beside_open(&beside, &feed, pinned);
        }
        if (again && action[i] == ACTION_NEXT) { /* it may wait: a stop has to by itself */
            beside_next(&beside, seen[i * SEEN_NUMBERS + SEEN_RESULT] != 1);
        }
    }
    cudaEventRecord(feed.mark, feed.marks);
    bytes[BYTES_HOST] = cudasim_left().pinned - before.pinned - beside.pinned;
    bytes[BYTES_DATA] = memory_now(feed.memory).bytes[MEMORY_DATA];
    prefetch_close(prefetch);
    if (again) {
        beside_close(&beside);
    }
    Memory *lane = memory_lane(feed.memory, "slots");
    bytes[BYTES_DEVICE] = memory_lane_peak(lane);
    bytes[BYTES_LEFT] += memory_lane_now(lane);
    CudasimLeft after = cudasim_left();
    bytes[BYTES_PINNED] = after.pinned - before.pinned;
    bytes[BYTES_KEPT] = (uint64_t)(after.handles - before.handles);
    if (again) {
        small.device = feed.device;
        small.next = true;
        small_open_and_close(&small);
    }
    if (feed.back_all > 0) {
        device_download(feed.device, wire_get(out, "back", WIRE_I32, NULL), feed.back,
                        feed.back_all * sizeof *feed.back);
    }
    device_synchronize(feed.device);
}

static void batches(const Wire *in, Wire *out) {
    feed_all(in, out, true);
}

static void pageable(const Wire *in, Wire *out) {
    feed_all(in, out, false);
}

const ProbeCase probe_cases[] = {
    {"batches", batches}, {"pageable", pageable}, {"offloaded", offload_case}, {NULL, NULL}};
