#include "device.h"
#include "queue.h"
#include "rank.h"
#include "record.h"

/* A queue runs only when a call waits for it, and then no further than needed. So what was not
   waited for has certainly not happened. */

enum { ALL = -1 /* devices */ };

static const Operation *current;
static uint64_t ran; /* operations, of all queues */

const Operation *sim_operation(void) {
    return current;
}

/* ---- one operation after the other ----------------------------------------------------------- */

static void finish(Operation *operation) {
    queue_of(operation->stream)->done = operation->number;
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
    ran++;
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

bool sim_others_wait(void) {
    bool any = false;
    for (int s = 0; s < queue_count() && !any; s++) {
        const Operation *next = queue_of(s)->first;
        any = next != NULL &&
              (current == NULL || !sim_ordered(next, current->stream, current->number));
    }
    return any;
}

const Operation *queue_act_for(const Operation *operation) {
    const Operation *before = current;
    current = operation;
    return before;
}

int queue_lacking(const Clock *clock, int but) {
    for (int s = 0; s < clock->width; s++) {
        if (s != but && clock->of[s] > queue_of(s)->done) {
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
        const Work *work = &queue_of(path[i])->first->job->work;
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
        const Operation *operation = queue_of(slot)->first;
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
        run_first(queue_of(next));
    }
    return next >= 0;
}

static bool only_asked;

bool queue_only_asked(void) {
    return only_asked;
}

void queue_try(int slot) {
    uint64_t number = queue_of(slot)->done + 1;
    only_asked = true;
    while (queue_of(slot)->done < number && run_for(slot)) {
    }
    only_asked = false;
    sim_close_memory();
    if (queue_of(slot)->done < number) {
        rank_asks(slot, sim_submitted() + ran);
    }
}

void queue_tell(int slot, char *text, size_t size) {
    const Operation *operation = queue_of(slot)->first;
    for (int next; (next = queue_lacking(operation->clock, slot)) >= 0; slot = next) {
        operation = queue_of(next)->first;
    }
    const Work *work = &operation->job->work;
    snprintf(text, size, "%s at %s:%d", operation->what, sim_file(operation->place),
             operation->place.line);
    if (work->needs != NULL) {
        work->needs->tell(work->context, text, size);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

void queue_run_to(int slot, uint64_t number) {
    while (queue_of(slot)->done < number) {
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
    check_waited();
}

void sim_wait_stream(int slot) {
    run_clock(&queue_of(slot)->clock);
    queue_host_waits(&queue_of(slot)->clock);
}

/* Of two streams that nothing orders, the one that was given its work later goes first: it is the
   one that would need the other's results. */
static int next_queue(int device, int rank) {
    int next = -1;
    for (int s = 0; s < queue_count(); s++) {
        bool wanted = device == ALL || (queue_of(s)->device == device && queue_of(s)->rank == rank);
        if (queue_of(s)->done == queue_of(s)->submitted || !wanted) {
            continue;
        }
        bool later = next < 0 || queue_of(s)->first->serial > queue_of(next)->first->serial;
        if (next < 0 || later != (sim_settings.schedule == REVERSE)) {
            next = s;
        }
    }
    return next;
}

void sim_wait_device(int device) {
    for (int slot; (slot = next_queue(device, queue_owner())) >= 0;) {
        queue_run_to(slot, queue_of(slot)->submitted);
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
