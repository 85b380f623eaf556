#include "device.h"
#include "graph.h"
#include "rank.h"
#include "record.h"

/* A stream is a queue, and a queue runs only when a call waits for it, and then no further than
   needed. So what was not waited for has certainly not happened.

   A vector clock says what must come before an operation: for each queue, how many of its
   operations. The clock is both the list of what to run first and the answer to "are these two
   ordered?". */

enum { DEPTH = 1024 /* a full queue makes room, as a GPU's does */, ALL = -1 /* devices */ };

static Queue queues[QUEUES] = {{.kind = QUEUE_DEFAULT, .rank = NO_RANK, .blocking = true}};
static int count = 1;
static const Operation *current;
static uint64_t turns;     /* operations that were submitted or have run */
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

const Operation *sim_operation(void) {
    return current;
}

uint64_t sim_submitted(void) {
    return submitted;
}

bool sim_many_streams(void) {
    return count > 1;
}

/* ---- running --------------------------------------------------------------------------------- */

static void finish(Operation *operation) {
    queues[operation->stream].done = operation->number;
    held_work_drop(operation->job);
    free(operation);
}

/* Memory of other devices is closed: may this one touch it? */
static void change_device(int device) {
    static int before;
    if (device != before || sim_others_open()) {
        before = device;
        sim_close_memory();
    }
}

static void run_first(Queue *queue) {
    Operation *operation = queue->first;
    const Work *work = &operation->job->work;
    queue->first = operation->next;
    current = operation;
    turns++;
    change_device(queue->device);
    variables_in_place(queue->device);
    rank_in_place(operation->rank);
    if (work->run != NULL && sim_device_error() == cudaSuccess) {
        work->run(work->context);
    }
    if (sim_recording) {
        record_traffic(operation);
    }
    current = NULL;
    finish(operation);
    rank_in_place(sim_host()->rank);
}

const Operation *queue_act_for(const Operation *operation) {
    const Operation *before = current;
    current = operation;
    return before;
}

int queue_lacking(const Clock *clock, int but) {
    for (int s = 0; s < clock->width; s++) {
        if (s != but && clock->of[s] > queues[s].done) {
            return s;
        }
    }
    return -1;
}

/* The last queue on the path is there before, too. */
_Noreturn static void report_circle(const int path[], int steps) {
    int first = steps - 2;
    while (path[first] != path[steps - 1]) {
        first--;
    }
    char text[500];
    bool begun = false;
    for (int i = first; i < steps - 1; i++) {
        const Work *work = &queues[path[i]].first->job->work;
        if (work->needs != NULL) {
            work->needs->tell(work->context, text, sizeof text);
            begun ? sim_detail("%s", text) : sim_report("deadlock", "%s", text);
            begun = true;
        }
    }
    sim_detail("each waits for the next, and the last for the first: none of them can go on");
    sim_stop();
}

/* From the head of a queue to what it waits for, and what that waits for: the queue whose first
   operation can run. -1: other ranks had their turn. Then all may be different, so nothing that
   was found is kept. */
static int next_to_run(int slot) {
    int path[QUEUES + 1], steps = 0;
    for (;;) {
        path[steps++] = slot;
        if (steps > QUEUES) {
            report_circle(path, steps);
        }
        const Operation *operation = queues[slot].first;
        const Work *work = &operation->job->work;
        int next = queue_lacking(operation->clock, slot);
        if (next < 0 && work->needs != NULL) {
            next = work->needs->queue(work->context);
            if (next < 0) {
                return -1;
            }
        }
        if (next < 0 || next == slot) {
            return slot;
        }
        slot = next;
    }
}

/* A step towards what a queue has to do; whether there was one. */
static bool run_for(int slot) {
    int next = next_to_run(slot);
    if (next >= 0) {
        run_first(&queues[next]);
    }
    return next >= 0;
}

static bool only_asked;

bool queue_only_asked(void) {
    return only_asked;
}

void queue_try(int slot) {
    uint64_t number = queues[slot].done + 1;
    only_asked = true;
    while (queues[slot].done < number && run_for(slot)) {
    }
    only_asked = false;
    sim_close_memory();
    if (queues[slot].done < number) {
        rank_asks(slot, turns);
    }
}

void queue_tell(int slot, char *text, size_t size) {
    const Operation *operation = queues[slot].first;
    for (int next; (next = queue_lacking(operation->clock, slot)) >= 0; slot = next) {
        operation = queues[next].first;
    }
    const Work *work = &operation->job->work;
    snprintf(text, size, "%s at %s:%d", operation->what, sim_file(operation->place),
             operation->place.line);
    if (work->needs != NULL) {
        work->needs->tell(work->context, text, size);
    }
}

void queue_run_to(int slot, uint64_t number) {
    while (queues[slot].done < number) {
        run_for(slot);
    }
}

static void run_clock(const Clock *clock) {
    for (int slot; (slot = queue_lacking(clock, -1)) >= 0;) {
        run_for(slot);
    }
}

void queue_host_waits(const Clock *clock) {
    if (sim_recording) {
        record_host_wait(clock);
    }
    clock_join(sim_host()->clock, clock);
    sim_close_memory();
}

void sim_wait_stream(int slot) {
    run_clock(&queues[slot].clock);
    queue_host_waits(&queues[slot].clock);
}

/* Of two streams that nothing orders, the one that was given its work later goes first: it is the
   one that would need the other's results. */
static int next_queue(int device, int rank) {
    int next = -1;
    for (int s = 0; s < count; s++) {
        bool wanted = device == ALL || (queues[s].device == device && queues[s].rank == rank);
        if (queues[s].done == queues[s].submitted || !wanted) {
            continue;
        }
        bool later = next < 0 || queues[s].first->serial > queues[next].first->serial;
        if (next < 0 || later != (sim_settings.schedule == REVERSE)) {
            next = s;
        }
    }
    return next;
}

void sim_wait_device(int device) {
    for (int slot; (slot = next_queue(device, queue_owner())) >= 0;) {
        queue_run_to(slot, queues[slot].submitted);
    }
    Clock all;
    clock_copy(&all, sim_host()->clock);
    queue_join_device(device, &all);
    queue_host_waits(&all);
}

void sim_wait_all(void) {
    for (int slot; (slot = next_queue(ALL, NO_RANK)) >= 0;) {
        sim_wait_stream(slot);
    }
}

/* ---- functions of the host that a stream calls ----------------------------------------------- */

static const Operation *calling; /* whose host function runs */

/* It may look at what the stream has done before, and at nothing later. */
void sim_as_host(void (*call)(void *), void *context) {
    const Operation *operation = current;
    Clock *host = sim_host()->clock, before;
    clock_copy(&before, host);
    current = NULL;
    clock_join(host, operation->clock);
    calling = operation;
    sim_close_memory();
    call(context);
    calling = NULL;
    clock_copy(host, &before);
    current = operation;
}

const Operation *sim_host_function(void) {
    return calling;
}

bool sim_in_host_function(void) {
    return calling != NULL;
}

void sim_refuse_in_host_function(const char *what, Place place) {
    if (calling != NULL) {
        sim_report("unsupported",
                   "%s at %s:%d is called by a host function of a stream, where CUDA allows none "
                   "of its calls",
                   what, sim_file(place), place.line);
        sim_stop();
    }
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
    turns++;
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
