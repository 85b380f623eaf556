#include <time.h>

#include "device.h"
#include "graph.h"
#include "record.h"

/* Events: places in streams. */

struct CUevent_st {
    bool recorded;
    bool untimed;
    int device; /* that was current when it was made */
    Place made;
    int slot;            /* of the stream that it was recorded in */
    uint64_t number;     /* its operation */
    Clock *clock;        /* when it is reached; NULL until it is recorded */
    double milliseconds; /* when it was reached; of no GPU */
    int pending;         /* operations that will write here */
    bool destroyed;
    CaptureMark mark; /* if it was last recorded in a captured stream */
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
        nodes_clear(&event->mark.nodes);
        free(event->clock);
        free(event);
    }
}

static cudaError_t no_handle(const char *what, Place place) {
    return sim_error(cudaErrorInvalidResourceHandle, what, place, false);
}

static bool no_event(cudaEvent_t event, const char *what, Place place) {
    return event == NULL || !sim_handle_exists(event, "event", what, place);
}

cudaError_t cudasim_event_create(const char *file, int line, cudaEvent_t *event, unsigned flags) {
    ENTER("cudaEventCreate", file, line);
    *event = sim_realloc(NULL, sizeof **event);
    **event = (struct CUevent_st){.untimed = (flags & cudaEventDisableTiming) != 0,
                                  .device = sim_device(),
                                  .made = {file, line}};
    sim_handle_made(*event, "cudaEventCreate", (*event)->made);
    return sim_device_error();
}

cudaError_t cudasim_event_destroy(const char *file, int line, cudaEvent_t event) {
    ENTER("cudaEventDestroy", file, line);
    Place place = {file, line};
    if (no_event(event, "cudaEventDestroy", place)) {
        return no_handle("cudaEventDestroy", place);
    }
    event->destroyed = true;
    event->pending++;
    sim_handle_ended(event, "cudaEventDestroy", place, let_go);
    return sim_device_error();
}

/* Each time that the work of recording it has entered a queue. */
static void note_record(void *context, const Operation *operation) {
    cudaEvent_t event = context;
    event->recorded = true;
    event->mark.capture = 0;
    event->slot = operation->stream;
    event->number = operation->number;
    event->clock = clock_keep(event->clock, operation->clock);
}

static Work record_work(cudaEvent_t event, const char *what, Place place) {
    event->pending++;
    return (Work){.what = what,
                  .place = place,
                  .type = cudaGraphNodeTypeEventRecord,
                  .run = reach,
                  .release = let_go,
                  .context = event,
                  .entered = note_record};
}

static cudaError_t other_device(cudaEvent_t event, int slot, const char *what, Place place) {
    sim_report("event misuse", "%s at %s:%d: the event is of device %d, the stream of device %d",
               what, sim_file(place), place.line, event->device, queue_of(slot)->device);
    sim_detail("the event was created at %s:%d, with device %d current; each device needs its own",
               sim_file(event->made), event->made.line, event->device);
    return no_handle(what, place);
}

cudaError_t cudasim_event_record_flags(const char *file, int line, cudaEvent_t event,
                                       cudaStream_t stream, unsigned flags) {
    ENTER("cudaEventRecordWithFlags", file, line);
    static const char what[] = "cudaEventRecord";
    Place place = {file, line};
    int slot;
    cudaError_t error = sim_may_submit(stream, what, place, &slot);
    if (error != cudaSuccess) {
        return error;
    }
    if (no_event(event, what, place)) {
        return no_handle(what, place);
    }
    if (event->device != queue_of(slot)->device) {
        return other_device(event, slot, what, place);
    }
    if (capture_takes(slot) && flags != cudaEventRecordExternal) {
        event->recorded = false;
        capture_mark(slot, &event->mark);
    } else {
        sim_submit(stream, record_work(event, what, place));
    }
    return sim_device_error();
}

cudaError_t cudasim_event_record(const char *file, int line, cudaEvent_t event,
                                 cudaStream_t stream) {
    ENTER("cudaEventRecord", file, line);
    return cudasim_event_record_flags(file, line, event, stream, cudaEventRecordDefault);
}

/* The work of waiting, which a graph does at each launch. */
static void note_wait(void *context, const Operation *operation) {
    cudaEvent_t event = context;
    if (event->recorded) {
        clock_join(&queue_of(operation->stream)->clock, event->clock);
    }
}

cudaError_t cudasim_stream_wait_event(const char *file, int line, cudaStream_t stream,
                                      cudaEvent_t event, unsigned flags) {
    ENTER("cudaStreamWaitEvent", file, line);
    static const char what[] = "cudaStreamWaitEvent";
    Place place = {file, line};
    int slot;
    cudaError_t error = sim_may_submit(stream, what, place, &slot);
    if (error != cudaSuccess) {
        return error;
    }
    if (no_event(event, what, place)) {
        return no_handle(what, place);
    }
    if (capture_takes(slot) && flags == cudaEventWaitExternal) {
        event->pending++;
        sim_submit(stream, (Work){.what = what,
                                  .place = place,
                                  .type = cudaGraphNodeTypeWaitEvent,
                                  .release = let_go,
                                  .context = event,
                                  .entered = note_wait});
    } else if (capture_takes(slot) || event->mark.capture != 0) {
        return capture_wait(slot, &event->mark, event->recorded, place);
    } else if (event->recorded) {
        /* Of an event that was not recorded there is nothing to wait for: CUDA says so too. */
        clock_join(&queue_of(slot)->clock, event->clock);
        if (sim_recording) {
            record_stream_wait(slot, what, place);
        }
    }
    return sim_device_error();
}

cudaError_t cudasim_event_synchronize(const char *file, int line, cudaEvent_t event) {
    ENTER("cudaEventSynchronize", file, line);
    Place place = {file, line};
    if (no_event(event, "cudaEventSynchronize", place)) {
        return no_handle("cudaEventSynchronize", place);
    }
    cudaError_t error = capture_forbids_event(&event->mark, "cudaEventSynchronize", place);
    if (error != cudaSuccess) {
        return error;
    }
    if (event->recorded) {
        queue_run_to(event->slot, event->number);
        queue_host_waits(event->clock);
    }
    return sim_device_error();
}

cudaError_t cudasim_event_query(const char *file, int line, cudaEvent_t event) {
    ENTER("cudaEventQuery", file, line);
    Place place = {file, line};
    if (no_event(event, "cudaEventQuery", place)) {
        return no_handle("cudaEventQuery", place);
    }
    cudaError_t error = capture_forbids_event(&event->mark, "cudaEventQuery", place);
    if (error != cudaSuccess) {
        return error;
    }
    return event->recorded ? queue_query(event->slot, event->number, event->clock) : cudaSuccess;
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
    ENTER("cudaEventElapsedTime", file, line);
    Place place = {file, line};
    if (no_event(from, "cudaEventElapsedTime", place) ||
        no_event(to, "cudaEventElapsedTime", place)) {
        return no_handle("cudaEventElapsedTime", place);
    }
    if (from->untimed || to->untimed) {
        return no_time(place, cudaErrorInvalidResourceHandle, "an event without timing has no time",
                       "make it with cudaEventCreate, without cudaEventDisableTiming");
    }
    if (from->device != to->device) {
        return no_time(place, cudaErrorInvalidResourceHandle,
                       "the events are of two devices, whose clocks differ",
                       "take the time between events of one device");
    }
    if (!from->recorded || !to->recorded) {
        return no_time(place, cudaErrorInvalidResourceHandle, "an event was never recorded",
                       "record one before the work and one after it, in the same stream");
    }
    if (queue_of(from->slot)->done < from->number || queue_of(to->slot)->done < to->number) {
        return no_time(place, cudaErrorNotReady, "the work between the events may not be over",
                       "call cudaEventSynchronize for the second event first");
    }
    *ms = (float)(to->milliseconds - from->milliseconds);
    return sim_device_error();
}
