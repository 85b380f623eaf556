#include <time.h>

#include "sim.h"

/* A stream is a queue, and a queue runs only when a call waits for it, and then no further than
   needed. So what was not waited for has certainly not happened.

   A vector clock says what must come before an operation: for each stream, how many of its
   operations. The clock is both the list of what to run first and the answer to "are these two
   ordered?". */

enum { DEPTH = 1024 /* a full queue makes room, as a GPU's does */ };

struct CUstream_st {
    int slot;
};

typedef struct Queue {
    Operation *first, *last;
    uint64_t submitted, done;
    Clock clock;   /* of the last operation, and of what the next one waits for */
    bool blocking; /* ordered with the default stream */
    unsigned flags;
    int priority;
    cudaStream_t handle;
} Queue;

static Queue queues[MAX_STREAMS] = {{.blocking = true}}; /* [0] is the default stream */
static Clock host;
static Operation *current;
static bool many_streams;

/* ---- clocks ---------------------------------------------------------------------------------- */

static void join(Clock *clock, const Clock *other) {
    for (int s = 0; s < MAX_STREAMS; s++) {
        clock->of[s] = other->of[s] > clock->of[s] ? other->of[s] : clock->of[s];
    }
}

Clock sim_clock_of(int slot) {
    Clock clock = host;
    join(&clock, &queues[slot].clock);
    if (!many_streams) {
        return clock;
    }
    /* The legacy default stream waits for all blocking streams, and they for it. */
    for (int s = 0; s < MAX_STREAMS; s++) {
        if (queues[s].blocking && queues[slot].blocking && (slot == 0 || s == 0)) {
            join(&clock, &queues[s].clock);
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
    return many_streams;
}

/* ---- running --------------------------------------------------------------------------------- */

static void finish(Operation *operation) {
    queues[operation->stream].done = operation->number;
    if (operation->release != NULL) {
        operation->release(operation->context);
    }
    free(operation);
}

static void run_to(int slot, uint64_t number) {
    Queue *queue = &queues[slot];
    while (queue->done < number) {
        Operation *operation = queue->first;
        for (int s = 0; s < MAX_STREAMS; s++) {
            if (s != slot && operation->clock.of[s] > queues[s].done) {
                run_to(s, operation->clock.of[s]);
            }
        }
        queue->first = operation->next;
        current = operation;
        if (operation->run != NULL && sim_device_error() == cudaSuccess) {
            operation->run(operation->context);
        }
        current = NULL;
        finish(operation);
    }
}

static bool in_host_function;

/* It may look at what the stream has done before, and at nothing later. */
void sim_as_host(void (*call)(void *), void *context) {
    Operation *operation = current;
    Clock before = host;
    current = NULL;
    join(&host, &operation->clock);
    sim_close_memory();
    in_host_function = true;
    call(context);
    in_host_function = false;
    host = before;
    current = operation;
}

static void refuse_in_host_function(const char *what, Place place) {
    if (in_host_function) {
        sim_report("unsupported",
                   "%s at %s:%d is called by a host function of a stream, where CUDA allows none "
                   "of its calls",
                   what, sim_file(place), place.line);
        sim_stop();
    }
}

static void host_waits(const Clock *clock) {
    join(&host, clock);
    sim_close_memory();
}

void sim_wait_stream(int slot) {
    run_to(slot, queues[slot].submitted);
    host_waits(&queues[slot].clock);
}

/* Of two streams that nothing orders, the one that was given its work later goes first: it is the
   one that would need the other's results. */
static int next_queue(void) {
    int next = -1;
    for (int s = 0; s < MAX_STREAMS; s++) {
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
        run_to(slot, queues[slot].submitted);
    }
    for (int s = 0; s < MAX_STREAMS; s++) {
        join(&host, &queues[s].clock);
    }
    sim_close_memory();
}

/* ---- submitting ------------------------------------------------------------------------------ */

const Operation *sim_submit_owned(cudaStream_t stream, const char *what, Place place,
                                  void (*run)(void *), void *context, void (*release)(void *)) {
    static uint64_t serial;
    int slot = sim_stream_slot(stream, what, place);
    Queue *queue = &queues[slot < 0 ? 0 : slot];
    Operation *operation = sim_realloc(NULL, sizeof *operation);
    *operation = (Operation){.what = what,
                             .place = place,
                             .stream = (int)(queue - queues),
                             .number = ++queue->submitted,
                             .serial = ++serial,
                             .clock = sim_clock_of((int)(queue - queues)),
                             .run = run,
                             .release = release,
                             .context = context};
    operation->clock.of[operation->stream] = operation->number;
    queue->clock = operation->clock;
    if (queue->first == NULL) {
        queue->first = operation;
    } else {
        queue->last->next = operation;
    }
    queue->last = operation;
    if (queue->submitted - queue->done > DEPTH) {
        run_to(operation->stream, operation->number - DEPTH);
        sim_close_memory();
    }
    return operation;
}

void sim_submit(cudaStream_t stream, const char *what, const char *file, int line,
                void (*run)(void *), const void *context, size_t bytes) {
    void *copy = sim_realloc(NULL, bytes);
    memcpy(copy, context, bytes);
    sim_submit_owned(stream, what, (Place){file, line}, run, copy, free);
}

bool sim_use(Allocation *allocation, int slot, const char *what, Place place) {
    if (allocation->given_back) {
        sim_report("use after free", "%s at %s:%d uses memory that was freed before", what,
                   sim_file(place), place.line);
        sim_detail_address(allocation->base);
        return false;
    }
    allocation->used.of[slot] = queues[slot].submitted + 1;
    int maker = allocation->maker_stream;
    if (maker >= 0 && maker != slot && sim_clock_of(slot).of[maker] < allocation->maker_number) {
        sim_report("stream race",
                   "%s at %s:%d uses memory that another stream makes later or at "
                   "any time",
                   what, sim_file(place), place.line);
        sim_detail_address(allocation->base);
        sim_detail("memory from cudaMallocAsync exists from its place in its stream on: let this "
                   "stream wait for an event of that one");
    }
    return true;
}

/* ---- streams --------------------------------------------------------------------------------- */

int sim_stream_slot(cudaStream_t stream, const char *what, Place place) {
    refuse_in_host_function(what, place);
    if (stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
        return 0;
    }
    for (int s = 1; s < MAX_STREAMS; s++) {
        if (queues[s].handle == stream) {
            return s;
        }
    }
    sim_report("use after free", "%s at %s:%d: there is no such stream; was it destroyed?", what,
               sim_file(place), place.line);
    return -1;
}

cudaError_t cudasim_stream_create(const char *file, int line, cudaStream_t *stream,
                                  unsigned flags) {
    sim_begin();
    for (int s = 1; s < MAX_STREAMS; s++) {
        if (queues[s].handle == NULL && (*stream = malloc(sizeof **stream)) != NULL) {
            (*stream)->slot = s;
            queues[s].handle = *stream;
            queues[s].flags = flags;
            queues[s].priority = 0;
            queues[s].blocking = flags != cudaStreamNonBlocking;
            many_streams = true;
            return sim_device_error();
        }
    }
    fprintf(stderr, "[cudasim] %s:%d: at most %d streams\n", file, line, MAX_STREAMS - 1);
    return sim_error(cudaErrorMemoryAllocation, "cudaStreamCreate", (Place){file, line}, false);
}

static cudaError_t no_stream(const char *what, Place place) {
    return sim_error(cudaErrorInvalidResourceHandle, what, place, false);
}

/* A priority orders nothing that a program may rely on. */
enum { LOWEST_PRIORITY = 0, HIGHEST_PRIORITY = -5 };

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = LOWEST_PRIORITY;
    *greatest = HIGHEST_PRIORITY;
    return cudaSuccess;
}

cudaError_t cudasim_stream_create_with_priority(const char *file, int line, cudaStream_t *stream,
                                                unsigned flags, int priority) {
    cudaError_t error = cudasim_stream_create(file, line, stream, flags);
    if (error == cudaSuccess) {
        priority = priority < HIGHEST_PRIORITY ? HIGHEST_PRIORITY : priority;
        queues[(*stream)->slot].priority = priority > LOWEST_PRIORITY ? LOWEST_PRIORITY : priority;
    }
    return error;
}

cudaError_t cudasim_stream_priority(const char *file, int line, cudaStream_t stream,
                                    int *priority) {
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamGetPriority", place);
    *priority = slot < 0 ? 0 : queues[slot].priority;
    return slot < 0 ? no_stream("cudaStreamGetPriority", place) : sim_device_error();
}

cudaError_t cudasim_stream_flags(const char *file, int line, cudaStream_t stream, unsigned *flags) {
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamGetFlags", place);
    *flags = slot < 0 ? 0 : queues[slot].flags;
    return slot < 0 ? no_stream("cudaStreamGetFlags", place) : sim_device_error();
}

cudaError_t cudasim_stream_destroy(const char *file, int line, cudaStream_t stream) {
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamDestroy", place);
    if (slot <= 0) {
        return no_stream("cudaStreamDestroy", place);
    }
    /* Its work is still done, but the host has not waited for it. */
    run_to(slot, queues[slot].submitted);
    sim_close_memory();
    queues[slot].handle = NULL;
    queues[slot].blocking = false;
    free(stream);
    return sim_device_error();
}

cudaError_t cudasim_stream_synchronize(const char *file, int line, cudaStream_t stream) {
    Place place = {file, line};
    sim_begin();
    int slot = sim_stream_slot(stream, "cudaStreamSynchronize", place);
    if (slot < 0) {
        return no_stream("cudaStreamSynchronize", place);
    }
    sim_wait_stream(slot);
    return sim_device_error();
}

cudaError_t cudasim_device_synchronize(const char *file, int line) {
    sim_begin();
    refuse_in_host_function("cudaDeviceSynchronize", (Place){file, line});
    sim_wait_device();
    return sim_device_error();
}

cudaError_t cudasim_device_reset(const char *file, int line) {
    return cudasim_device_synchronize(file, line);
}

/* Who asks again and again gets on, one operation at a time. */
static cudaError_t query(int slot, uint64_t number, const Clock *clock) {
    if (queues[slot].done < number) {
        run_to(slot, queues[slot].done + 1);
        sim_close_memory();
        return cudaErrorNotReady;
    }
    host_waits(clock);
    return sim_device_error();
}

cudaError_t cudasim_stream_query(const char *file, int line, cudaStream_t stream) {
    Place place = {file, line};
    sim_begin();
    int slot = sim_stream_slot(stream, "cudaStreamQuery", place);
    return slot < 0 ? no_stream("cudaStreamQuery", place)
                    : query(slot, queues[slot].submitted, &queues[slot].clock);
}

/* ---- events ---------------------------------------------------------------------------------- */

struct CUevent_st {
    bool recorded;
    bool untimed;
    int slot;        /* of the stream that it was recorded in */
    uint64_t number; /* its operation */
    Clock clock;
    double milliseconds; /* when it was reached; of no GPU */
    int pending;         /* operations that will write here */
    bool destroyed;
};

static void reach(void *context) {
    cudaEvent_t event = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->milliseconds = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void let_go(void *context) {
    cudaEvent_t event = context;
    if (--event->pending == 0 && event->destroyed) {
        free(event);
    }
}

static bool no_event(cudaEvent_t event, const char *what, Place place) {
    return event == NULL || !sim_handle_exists(event, "event", what, place);
}

cudaError_t cudasim_event_create(const char *file, int line, cudaEvent_t *event, unsigned flags) {
    (void)file, (void)line;
    sim_begin();
    *event = sim_realloc(NULL, sizeof **event);
    **event = (struct CUevent_st){.untimed = (flags & cudaEventDisableTiming) != 0};
    sim_handle_made(*event);
    return sim_device_error();
}

cudaError_t cudasim_event_destroy(const char *file, int line, cudaEvent_t event) {
    Place place = {file, line};
    if (no_event(event, "cudaEventDestroy", place)) {
        return no_stream("cudaEventDestroy", place);
    }
    event->destroyed = true;
    event->pending++;
    cudaEvent_t oldest = sim_handle_ended(event, place);
    if (oldest != NULL) {
        let_go(oldest);
    }
    return sim_device_error();
}

cudaError_t cudasim_event_record(const char *file, int line, cudaEvent_t event,
                                 cudaStream_t stream) {
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaEventRecord", place);
    if (slot < 0 || no_event(event, "cudaEventRecord", place)) {
        return no_stream("cudaEventRecord", place);
    }
    event->pending++;
    const Operation *operation =
        sim_submit_owned(stream, "cudaEventRecord", place, reach, event, let_go);
    event->recorded = true;
    event->slot = slot;
    event->number = operation->number;
    event->clock = operation->clock;
    return sim_device_error();
}

cudaError_t cudasim_stream_wait_event(const char *file, int line, cudaStream_t stream,
                                      cudaEvent_t event, unsigned flags) {
    Place place = {file, line};
    (void)flags;
    int slot = sim_stream_slot(stream, "cudaStreamWaitEvent", place);
    if (slot < 0 || no_event(event, "cudaStreamWaitEvent", place)) {
        return no_stream("cudaStreamWaitEvent", place);
    }
    /* Of an event that was not recorded there is nothing to wait for: CUDA says so too. */
    if (event->recorded) {
        join(&queues[slot].clock, &event->clock);
    }
    return sim_device_error();
}

cudaError_t cudasim_event_synchronize(const char *file, int line, cudaEvent_t event) {
    Place place = {file, line};
    if (no_event(event, "cudaEventSynchronize", place)) {
        return no_stream("cudaEventSynchronize", place);
    }
    if (event->recorded) {
        run_to(event->slot, event->number);
        host_waits(&event->clock);
    }
    return sim_device_error();
}

cudaError_t cudasim_event_query(const char *file, int line, cudaEvent_t event) {
    Place place = {file, line};
    if (no_event(event, "cudaEventQuery", place)) {
        return no_stream("cudaEventQuery", place);
    }
    return event->recorded ? query(event->slot, event->number, &event->clock) : cudaSuccess;
}

static cudaError_t no_time(Place place, cudaError_t error, const char *why, const char *cure) {
    sim_report("event misuse", "cudaEventElapsedTime at %s:%d: %s", sim_file(place), place.line,
               why);
    sim_detail("%s; a GPU only returns \"%s\", and leaves the time as it was", cure,
               cudaGetErrorString(error));
    return sim_error(error, "cudaEventElapsedTime", place, false);
}

cudaError_t cudasim_event_elapsed_time(const char *file, int line, float *ms, cudaEvent_t from,
                                       cudaEvent_t to) {
    Place place = {file, line};
    if (no_event(from, "cudaEventElapsedTime", place) ||
        no_event(to, "cudaEventElapsedTime", place)) {
        return no_stream("cudaEventElapsedTime", place);
    }
    if (from->untimed || to->untimed) {
        return no_time(place, cudaErrorInvalidResourceHandle, "an event without timing has no time",
                       "make it with cudaEventCreate, without cudaEventDisableTiming");
    }
    if (!from->recorded || !to->recorded) {
        return no_time(place, cudaErrorInvalidResourceHandle, "an event was never recorded",
                       "record one before the work and one after it, in the same stream");
    }
    if (queues[from->slot].done < from->number || queues[to->slot].done < to->number) {
        return no_time(place, cudaErrorNotReady, "the work between the events may not be over",
                       "call cudaEventSynchronize for the second event first");
    }
    *ms = (float)(to->milliseconds - from->milliseconds);
    return sim_device_error();
}
