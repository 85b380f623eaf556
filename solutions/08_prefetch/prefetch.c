/* Lab 08: batches that are on the device before they are needed. The contracts are in
   labs/08_prefetch/contract.h. */
#include <cuda_runtime.h>
#include <stdlib.h>

#include "common/lab.h"
#include "labs/08_prefetch/contract.h"

/* A place for a batch, here and there. */
typedef struct BatchSlot {
    int32_t *host;      /* (2, tokens): tokens, then targets */
    int32_t *device;    /* the same on the device */
    cudaEvent_t copied; /* in the copy stream: the copy of its batch is over */
    cudaEvent_t used;   /* in the default stream: the work on its batch is over */
    Batch batch;
} BatchSlot;

struct Prefetch {
    BatchReader reader;
    size_t tokens;
    bool pinned;
    Memory *lane;
    MemoryMark mark;
    cudaStream_t copies;
    int slots;
    uint64_t read;  /* batches so far; batch i is in slot i % slots */
    uint64_t given; /* of these handed out */
    int result;     /* the reader's last word */
    BatchSlot slot[];
};

#define EXPECT(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))

/* ---- slots ----------------------------------------------------------------------------------- */

static void slot_open(Prefetch *prefetch, BatchSlot *slot) {
    size_t bytes = 2 * prefetch->tokens * sizeof(int32_t);
    slot->device = memory_alloc(prefetch->lane, MEMORY_DATA, "slot", -1, bytes);
    EXPECT(cudaEventCreateWithFlags(&slot->copied, cudaEventDisableTiming));
    EXPECT(cudaEventCreateWithFlags(&slot->used, cudaEventDisableTiming));
#ifndef STUB
    if (prefetch->pinned) {
        EXPECT(cudaMallocHost((void **)&slot->host, bytes));
    } else {
        slot->host = malloc(bytes);
        CHECK(slot->host != NULL, "no host memory for %zu bytes", bytes);
    }
#else
    TODO("task 1: host memory, pinned or pageable (about 6 lines)");
#endif
}

static void slot_close(Prefetch *prefetch, BatchSlot *slot) {
#ifndef STUB
    if (prefetch->pinned) {
        EXPECT(cudaFreeHost(slot->host));
    } else {
        free(slot->host);
    }
#else
    (void)prefetch;
    TODO("task 1: host memory goes back, by the call that fits (about 5 lines)");
#endif
    EXPECT(cudaEventDestroy(slot->copied));
    EXPECT(cudaEventDestroy(slot->used));
}

/* Reads a batch into the next slot, and enqueues its copy. */
static void fill(Prefetch *prefetch) {
    BatchSlot *slot = &prefetch->slot[prefetch->read % (uint64_t)prefetch->slots];
    int32_t *targets = slot->host + prefetch->tokens;
#ifndef STUB
    EXPECT(cudaEventSynchronize(slot->copied)); /* the copy before has read the host memory */
#else
    /* task 1: may the reader write there yet? (1 line) */
#endif
    prefetch->result =
        prefetch->reader.read(prefetch->reader.context, slot->host, targets, &slot->batch);
    if (prefetch->result != 1) {
        return;
    }
#ifndef STUB
    EXPECT(cudaStreamWaitEvent(prefetch->copies, slot->used, 0));
#else
    /* task 2: a copy of its own stream overwrites the batch before: after which work? (1 line) */
#endif
#ifndef STUB
    size_t bytes = (size_t)slot->batch.B * (size_t)slot->batch.T * sizeof(int32_t);
    EXPECT(
        cudaMemcpyAsync(slot->device, slot->host, bytes, cudaMemcpyHostToDevice, prefetch->copies));
    EXPECT(cudaMemcpyAsync(slot->device + prefetch->tokens, targets, bytes, cudaMemcpyHostToDevice,
                           prefetch->copies));
    EXPECT(cudaEventRecord(slot->copied, prefetch->copies));
    prefetch->read++;
#else
    (void)targets;
    TODO("task 1: copy tokens and targets, B * T of each, and say when they are there (about 6 "
         "lines)");
#endif
}

/* All work on the batch that was handed out last has been enqueued. */
static void give_back(Prefetch *prefetch) {
#ifndef STUB
    if (prefetch->given > 0) {
        uint64_t last = (prefetch->given - 1) % (uint64_t)prefetch->slots;
        EXPECT(cudaEventRecord(prefetch->slot[last].used, 0));
    }
#else
    if (prefetch->slots > 1) {
        TODO("task 2: its slot may be filled again once that work is over (about 3 lines)");
    }
#endif
}

/* ---- the way of a batch ---------------------------------------------------------------------- */

Prefetch *prefetch_open(Memory *memory, int slots, size_t tokens, bool pinned, BatchReader reader) {
    CHECK(slots >= 1 && tokens >= 1, "%d slots of %zu tokens", slots, tokens);
    Prefetch *prefetch = calloc(1, sizeof *prefetch + (size_t)slots * sizeof(BatchSlot));
    CHECK(prefetch != NULL, "no host memory for %d slots", slots);
    *prefetch = (Prefetch){
        .reader = reader, .tokens = tokens, .pinned = pinned, .slots = slots, .result = 1};
    prefetch->lane = memory_lane(memory, "slots");
    prefetch->mark = memory_mark(prefetch->lane);
#ifndef STUB
    EXPECT(cudaStreamCreateWithFlags(&prefetch->copies, cudaStreamNonBlocking));
#else
    if (slots > 1) {
        TODO("task 2: a stream for copies, which the default stream does not wait for (1 line)");
    }
#endif
    for (int i = 0; i < slots; i++) {
        slot_open(prefetch, &prefetch->slot[i]);
    }
    EXPECT(cudaStreamSynchronize(0)); /* memory comes from its pool, and is there from now on */
    return prefetch;
}

int prefetch_next(Prefetch *prefetch, Batch *batch) {
    give_back(prefetch);
#ifndef STUB
    while (prefetch->result == 1 && prefetch->read - prefetch->given < (uint64_t)prefetch->slots) {
        fill(prefetch);
    }
#else
    if (prefetch->slots > 1) {
        TODO("task 2: fill all slots that are free (about 3 lines)");
    }
    if (prefetch->result == 1) {
        fill(prefetch);
    }
#endif
    if (prefetch->read == prefetch->given) {
#ifndef STUB
        EXPECT(cudaStreamSynchronize(prefetch->copies));
        return prefetch->result;
#else
        TODO("task 3: the reader has ended, or failed: nothing is in flight (about 2 lines)");
#endif
    }
    const BatchSlot *slot = &prefetch->slot[prefetch->given++ % (uint64_t)prefetch->slots];
#ifndef STUB
    EXPECT(cudaStreamWaitEvent(0, slot->copied, 0));
#else
    /* task 1: the default stream may not read it before it is there (1 line) */
#endif
    *batch = slot->batch;
    batch->tokens = slot->device;
    batch->targets = slot->device + prefetch->tokens;
    batch->on_device = true;
    return 1;
}

void prefetch_stop(Prefetch *prefetch) {
    give_back(prefetch);
#ifndef STUB
    EXPECT(cudaStreamSynchronize(prefetch->copies));
    prefetch->read = prefetch->given = 0;
    prefetch->result = 1;
#else
    TODO("task 3: nothing is in flight, and the next call begins anew (about 3 lines)");
#endif
}

void prefetch_close(Prefetch *prefetch) {
    if (prefetch == NULL) {
        return;
    }
    EXPECT(cudaDeviceSynchronize()); /* no copy reads or writes a slot any more */
    for (int i = 0; i < prefetch->slots; i++) {
        slot_close(prefetch, &prefetch->slot[i]);
    }
    memory_release(prefetch->lane, prefetch->mark);
    if (prefetch->copies != NULL) {
        EXPECT(cudaStreamDestroy(prefetch->copies));
    }
    free(prefetch);
}
