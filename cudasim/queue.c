#include "device.h"
#include "graph.h"
#include "rank.h"
#include "record.h"

/* A stream is a queue. What runs of it, and when, is in queue_run.c.

   A vector clock says what must come before an operation: for each queue, how many of its
   operations. The clock is both the list of what to run first and the answer to "are these two
   ordered?". */

enum { DEPTH = 1024 /* a full queue makes room, as a GPU's does */ };

static Queue queues[QUEUES] = {{.kind = QUEUE_DEFAULT, .rank = NO_RANK, .blocking = true}};
static int count = 1;
static uint64_t submitted; /* to all queues */

Queue *queue_of(int slot) {
    return &queues[slot];
}

int queue_count(void) {
    return count;
}

/* All that enters a queue comes after all that was in it. So one that another rank had is taken
   only if there is no other. */
static int unused_queue(void) {
    int others = QUEUES;
    for (int s = count - 1; s > 0; s--) {
        if (queues[s].kind == QUEUE_UNUSED && queues[s].rank == queue_owner()) {
            return s;
        }
        others = queues[s].kind == QUEUE_UNUSED ? s : others;
    }
    return count < QUEUES ? count : others;
}

int queue_take(int device, QueueKind kind) {
    int slot = unused_queue();
    if (slot == QUEUES) {
        return -1;
    }
    count = slot < count ? count : slot + 1;
    queues[slot].kind = kind;
    queues[slot].device = device;
    queues[slot].rank = queue_owner();
    device_of(device)->many = device_of(device)->many || kind != QUEUE_DEFAULT;
    queues[slot].blocking = kind == QUEUE_DEFAULT;
    return slot;
}

/* In a dry run there may be more ranks. They run one after the other, and share queues. */
int queue_owner(void) {
    int rank = sim_rank();
    return rank == NO_RANK ? NO_RANK : rank % MOST_RANKS;
}

/* Of the default streams. Ranks on one device have each their own, as processes have. */
static int *default_of(int device, int rank) {
    static int slots[MOST_DEVICES][MOST_RANKS + 1];
    return &slots[device][rank + 1];
}

int queue_default(int device) {
    int rank = queue_owner(), *slot = default_of(device, rank);
    if (*slot == 0 && !(device == 0 && rank == NO_RANK)) {
        *slot = queue_take(device, QUEUE_DEFAULT);
        if (*slot < 0) {
            fprintf(stderr, "[cudasim] at most %d streams\n", QUEUES);
            sim_stop();
        }
    }
    return *slot;
}

static bool is_of(const Queue *queue, int device, int rank) {
    return queue->kind != QUEUE_UNUSED && queue->device == device && queue->rank == rank;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* The legacy default stream waits for all blocking streams of its device, and they for it. */
static void join_blocking(int slot, Clock *clock) {
    const Queue *queue = &queues[slot];
    const SimDevice *device = device_of(queue->device);
    if (!device->many || !queue->blocking) {
        return;
    }
    if (queue->kind != QUEUE_DEFAULT) {
        clock_join(clock, &queues[*default_of(queue->device, queue->rank)].clock);
        return;
    }
    for (int s = 0; s < count; s++) {
        if (queues[s].blocking && is_of(&queues[s], queue->device, queue->rank)) {
            clock_join(clock, &queues[s].clock);
        }
    }
}

void sim_clock_of(int slot, Clock *clock) {
    clock_copy(clock, sim_host()->clock);
    clock_join(clock, &queues[slot].clock);
    join_blocking(slot, clock);
}

void queue_join_device(int device, Clock *clock) {
    for (int s = 0; s < count; s++) {
        if (is_of(&queues[s], device, queue_owner())) {
            clock_join(clock, &queues[s].clock);
        }
    }
}

void queue_device_waits(int device, const Clock *clock) {
    clock_join(&queues[queue_default(device)].clock, clock);
    for (int s = 0; s < count; s++) {
        if (is_of(&queues[s], device, queue_owner()) && queues[s].kind == QUEUE_STREAM) {
            clock_join(&queues[s].clock, clock);
        }
    }
}

bool sim_ordered(const Operation *operation, int slot, uint64_t number) {
    return clock_at(operation->clock, slot) >= number;
}

bool sim_host_ordered(int slot, uint64_t number) {
    return clock_at(sim_host()->clock, slot) >= number;
}

uint64_t sim_submitted(void) {
    return submitted;
}

bool sim_many_streams(void) {
    return count > 1;
}

/* ---- submitting ------------------------------------------------------------------------------ */

/* Its clock follows it in memory, as wide as it is. */
static Operation *new_operation(int slot) {
    Queue *queue = &queues[slot];
    Clock clock;
    sim_clock_of(slot, &clock);
    clock_set(&clock, slot, ++queue->submitted);
    clock_copy(&queue->clock, &clock);
    Operation *operation = sim_realloc(NULL, sizeof *operation + clock_bytes(&clock));
    operation->clock = memcpy(operation + 1, &clock, clock_bytes(&clock));
    return operation;
}

const Operation *queue_add(int slot, HeldWork *job, Place replayed) {
    Queue *queue = &queues[slot];
    Operation *operation = new_operation(slot);
    *operation = (Operation){.what = job->work.what,
                             .place = job->work.place,
                             .replayed = replayed,
                             .rank = sim_host()->rank,
                             .stream = slot,
                             .number = queue->submitted,
                             .serial = ++submitted,
                             .clock = operation->clock,
                             .job = held_work_hold(job)};
    if (queue->first == NULL) {
        queue->first = operation;
    } else {
        queue->last->next = operation;
    }
    queue->last = operation;
    use_by(operation);
    if (sim_recording) {
        record_operation(operation);
    }
    if (job->work.entered != NULL) {
        job->work.entered(job->work.context, operation);
    }
    if (queue->submitted - queue->done > DEPTH) {
        queue_run_to(slot, operation->number - DEPTH);
        sim_close_memory();
    }
    return operation;
}

const Operation *sim_submit(cudaStream_t stream, Work work) {
    int slot = sim_stream_slot(stream, work.what, work.place);
    HeldWork *job = held_work_new(work);
    job->device = queues[slot].device;
    if (sim_recording) {
        job->note = record_note_for(&work);
    }
    const Operation *operation = NULL;
    if (capture_takes(slot)) {
        use_given_to(job);
        capture_add(slot, work.type, job);
    } else {
        operation = queue_add(slot, job, (Place){NULL, 0});
    }
    held_work_drop(job);
    return operation;
}

const Operation *sim_submit_copy(cudaStream_t stream, Work work, size_t bytes) {
    void *copy = sim_realloc(NULL, bytes);
    memcpy(copy, work.context, bytes);
    work.context = copy;
    work.release = free;
    return sim_submit(stream, work);
}
