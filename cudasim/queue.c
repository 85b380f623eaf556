#include "queue.h"

#include "graph.h"

/* A stream is a queue, and a queue runs only when a call waits for it, and then no further than
   needed. So what was not waited for has certainly not happened.

   A vector clock says what must come before an operation: for each queue, how many of its
   operations. The clock is both the list of what to run first and the answer to "are these two
   ordered?". */

enum { DEPTH = 1024 /* a full queue makes room, as a GPU's does */ };

static Queue queues[QUEUES] = {{.blocking = true}};
static Clock host;
static Operation *current;
static bool many;

Queue *queue_of(int slot) {
    return &queues[slot];
}

void queue_many(void) {
    many = true;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

void clock_join(Clock *clock, const Clock *other) {
    for (int s = 0; s < QUEUES; s++) {
        clock->of[s] = other->of[s] > clock->of[s] ? other->of[s] : clock->of[s];
    }
}

Clock sim_clock_of(int slot) {
    Clock clock = host;
    clock_join(&clock, &queues[slot].clock);
    if (!many) {
        return clock;
    }
    /* The legacy default stream waits for all blocking streams, and they for it. */
    for (int s = 0; s < QUEUES; s++) {
        if (queues[s].blocking && queues[slot].blocking && (slot == 0 || s == 0)) {
            clock_join(&clock, &queues[s].clock);
        }
    }
    return clock;
}

bool sim_ordered(const Operation *operation, int slot, uint64_t number) {
    return operation->clock.of[slot] >= number;
}

bool sim_host_ordered(int slot, uint64_t number) {
    return host.of[slot] >= number;
}

const Operation *sim_operation(void) {
    return current;
}

bool sim_many_streams(void) {
    return many;
}

/* ---- running --------------------------------------------------------------------------------- */

static void finish(Operation *operation) {
    queues[operation->stream].done = operation->number;
    held_work_drop(operation->job);
    free(operation);
}

static void run_clock(const Clock *clock, int but) {
    for (int s = 0; s < QUEUES; s++) {
        if (s != but && clock->of[s] > queues[s].done) {
            queue_run_to(s, clock->of[s]);
        }
    }
}

void queue_run_to(int slot, uint64_t number) {
    Queue *queue = &queues[slot];
    while (queue->done < number) {
        Operation *operation = queue->first;
        run_clock(&operation->clock, slot);
        queue->first = operation->next;
        current = operation;
        const Work *work = &operation->job->work;
        if (work->run != NULL && sim_device_error() == cudaSuccess) {
            work->run(work->context);
        }
        current = NULL;
        finish(operation);
    }
}

void queue_host_waits(const Clock *clock) {
    clock_join(&host, clock);
    sim_close_memory();
}

void sim_wait_stream(int slot) {
    run_clock(&queues[slot].clock, -1);
    queue_host_waits(&queues[slot].clock);
}

/* Of two streams that nothing orders, the one that was given its work later goes first: it is the
   one that would need the other's results. */
static int next_queue(void) {
    int next = -1;
    for (int s = 0; s < QUEUES; s++) {
        if (queues[s].done == queues[s].submitted) {
            continue;
        }
        bool later = next < 0 || queues[s].first->serial > queues[next].first->serial;
        if (next < 0 || later != (sim_settings.schedule == REVERSE)) {
            next = s;
        }
    }
    return next;
}

void sim_wait_device(void) {
    for (int slot; (slot = next_queue()) >= 0;) {
        queue_run_to(slot, queues[slot].submitted);
    }
    for (int s = 0; s < QUEUES; s++) {
        clock_join(&host, &queues[s].clock);
    }
    sim_close_memory();
}

/* ---- functions of the host that a stream calls ----------------------------------------------- */

static bool in_host_function;

/* It may look at what the stream has done before, and at nothing later. */
void sim_as_host(void (*call)(void *), void *context) {
    Operation *operation = current;
    Clock before = host;
    current = NULL;
    clock_join(&host, &operation->clock);
    sim_close_memory();
    in_host_function = true;
    call(context);
    in_host_function = false;
    host = before;
    current = operation;
}

void sim_refuse_in_host_function(const char *what, Place place) {
    if (in_host_function) {
        sim_report("unsupported",
                   "%s at %s:%d is called by a host function of a stream, where CUDA allows none "
                   "of its calls",
                   what, sim_file(place), place.line);
        sim_stop();
    }
}

/* ---- submitting ------------------------------------------------------------------------------ */

const Operation *queue_add(int slot, HeldWork *job, Place replayed) {
    static uint64_t serial;
    Queue *queue = &queues[slot];
    Operation *operation = sim_realloc(NULL, sizeof *operation);
    *operation = (Operation){.what = job->work.what,
                             .place = job->work.place,
                             .replayed = replayed,
                             .stream = slot,
                             .number = ++queue->submitted,
                             .serial = ++serial,
                             .clock = sim_clock_of(slot),
                             .job = held_work_hold(job)};
    operation->clock.of[slot] = operation->number;
    queue->clock = operation->clock;
    if (queue->first == NULL) {
        queue->first = operation;
    } else {
        queue->last->next = operation;
    }
    queue->last = operation;
    use_by(operation);
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
