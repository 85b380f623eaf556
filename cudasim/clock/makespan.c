/* A simulator of queues: events in the order of time, at one time in the order of the record. The
   contract is in makespan.h. */
#include "cudasim/clock/makespan.h"

#include <string.h>

#include "cudasim/clock/memory.h"
#include "cudasim/clock/reckoning.h"

/* ---- lines ----------------------------------------------------------------------------------- */

static void stand(Reckoning *run, Line *line, int i) {
    run->next[i] = NONE;
    *(line->first == NONE ? &line->first : &run->next[line->last]) = i;
    line->last = i;
}

static int call_first(const Reckoning *run, Line *line) {
    int i = line->first;
    line->first = i != NONE ? run->next[i] : NONE;
    return i;
}

/* ---- the host -------------------------------------------------------------------------------- */

/* Whether the host spends the time of a launch on it. */
static bool is_call(const CudasimEntry *e) {
    bool work = e->kind < CUDASIM_EVENT || e->kind == CUDASIM_HOST_CALL;
    return e->kind == CUDASIM_GRAPH || (work && e->graph == 0);
}

static void less_to_wait(Reckoning *run, int i, double time) {
    run->ready[i] = time > run->ready[i] ? time : run->ready[i];
    if (--run->waits[i] == 0 && !reckoning_is_host(reckoning_entry(run, i))) {
        events_add(&run->events, run->ready[i], READY, i, 0);
    }
}

static void end_entry(Reckoning *run, int i, double begin, double end);

/* One call; entries that are issued for a later time do not run before it. */
static void make_call(Reckoning *run, HostState *host, int i) {
    const CudasimEntry *e = reckoning_entry(run, i);
    double begin = host->now;
    if (is_call(e)) {
        host->now += run->machine->launch;
        host->launching += run->machine->launch;
    }
    host->next = run->next[i];
    if (!reckoning_is_host(e)) {
        less_to_wait(run, i, host->now);
        return;
    }
    if (run->ready[i] > host->now) {
        host->waiting += run->ready[i] - host->now;
        host->now = run->ready[i];
    }
    end_entry(run, i, begin, host->now);
}

/* Makes its calls up to one that has to wait. */
static void host_goes_on(Reckoning *run, HostState *host) {
    host->calling = true;
    while (host->next != NONE &&
           !(reckoning_is_host(reckoning_entry(run, host->next)) && run->waits[host->next] > 0)) {
        make_call(run, host, host->next);
    }
    host->calling = false;
}

static void end_part(Reckoning *run, int i, double end) {
    if (--run->parts[i] == 0) {
        end_entry(run, i, run->span[i].begin, end);
    }
}

static void end_entry(Reckoning *run, int i, double begin, double end) {
    run->span[i] = (Span){begin, end};
    run->over++;
    const Followers *followers = &run->followers;
    for (int k = followers->first[i]; k < followers->first[i + 1]; k++) {
        int child = followers->entry[k];
        if (reckoning_one_group(reckoning_entry(run, i), reckoning_entry(run, child))) {
            end_part(run, child, end);
            continue;
        }
        less_to_wait(run, child, end);
        HostState *host = &run->host[reckoning_entry(run, child)->rank];
        if (host->next == child && !host->calling && run->waits[child] == 0) {
            host_goes_on(run, host);
        }
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void plan(Reckoning *run, int device) {
    KernelEngine *engine = &run->device[device].engine;
    double next = engine_plan(engine);
    if (next >= 0) {
        events_add(&run->events, next, KERNELS_OVER, device, engine->plan);
    }
}

static void begin_kernels(Reckoning *run, int device, double now) {
    DeviceState *d = &run->device[device];
    while (d->engine.count < run->machine->kernels && d->kernels.first != NONE) {
        int i = call_first(run, &d->kernels);
        run->span[i].begin = now;
        engine_add(&d->engine, run->machine, reckoning_entry(run, i), i, now);
    }
    plan(run, device);
}

static void kernels_over(Reckoning *run, const TimedEvent *event) {
    enum { MOST = 1024 };
    int over[MOST];
    KernelEngine *engine = &run->device[event->index].engine;
    if (event->plan != engine->plan) {
        return;
    }
    int count = engine_finished(engine, event->time, over, MOST);
    begin_kernels(run, event->index, event->time);
    for (int k = 0; k < count; k++) {
        end_entry(run, over[k], run->span[over[k]].begin, event->time);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int engine_for(const Reckoning *run, const CudasimEntry *e) {
    return run->machine->copy_engines > 1 && e->way == CUDASIM_FROM_DEVICE;
}

static void begin_copy(Reckoning *run, DeviceState *d, int engine, double now) {
    int i = d->copying[engine] ? NONE : call_first(run, &d->copies[engine]);
    if (i == NONE) {
        return;
    }
    const CudasimEntry *e = reckoning_entry(run, i);
    const Machine *m = run->machine;
    double seconds = e->bytes / (e->way == CUDASIM_FROM_DEVICE ? m->from_device : m->to_device);
    run->span[i].begin = now;
    d->copying[engine] = true;
    d->copied[engine] += seconds;
    events_add(&run->events, now + seconds, COPY_OVER, i, 0);
}

static void copy_over(Reckoning *run, const TimedEvent *event) {
    const CudasimEntry *e = reckoning_entry(run, event->index);
    DeviceState *d = &run->device[e->device];
    int engine = engine_for(run, e);
    d->copying[engine] = false;
    begin_copy(run, d, engine, event->time);
    end_entry(run, event->index, run->span[event->index].begin, event->time);
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The links that a meeting takes: of a collective both ways of each rank. */
static void each_link(Reckoning *run, const Meeting *m, bool *busy, bool set) {
    for (int k = 0; k < m->count; k++) {
        const CudasimEntry *e = reckoning_entry(run, m->member[k]);
        DeviceState *d = &run->device[e->device];
        bool *sends = &d->sends, *receives = &d->receives, unused = false;
        if (e->kind == CUDASIM_COPY) {
            receives = &run->device[e->peer].receives;
        } else if (e->collective == CUDASIM_SEND) {
            receives = &unused;
        } else if (e->collective == CUDASIM_RECEIVE) {
            sends = &unused;
        }
        if (set) {
            *sends = *receives = *busy;
        } else {
            *busy = *busy || *sends || *receives;
        }
    }
}

static void begin_meetings(Reckoning *run, double now) {
    int kept = 0;
    for (int k = 0; k < run->crowd_count; k++) {
        Meeting *m = &run->meetings.meeting[run->crowd[k]];
        bool busy = false;
        each_link(run, m, &busy, false);
        if (busy) {
            run->crowd[kept++] = run->crowd[k];
            continue;
        }
        busy = true;
        each_link(run, m, &busy, true);
        for (int i = 0; i < m->count; i++) {
            Span *span = &run->span[m->member[i]];
            span->begin = now;
            run->device[reckoning_entry(run, m->member[i])->device].linked += m->seconds;
        }
        events_add(&run->events, now + m->seconds, MEETING_OVER, run->crowd[k], 0);
    }
    run->crowd_count = kept;
}

static void meeting_over(Reckoning *run, const TimedEvent *event) {
    Meeting *m = &run->meetings.meeting[event->index];
    bool busy = false;
    each_link(run, m, &busy, true);
    begin_meetings(run, event->time);
    for (int k = 0; k < m->count; k++) {
        end_part(run, m->member[k], event->time);
    }
}

static void join_meeting(Reckoning *run, int i, double now) {
    int m = run->meetings.of[i];
    const Followers *followers = &run->followers;
    for (int k = followers->first[i]; k < followers->first[i + 1]; k++) {
        if (reckoning_one_group(reckoning_entry(run, i),
                                reckoning_entry(run, followers->entry[k]))) {
            less_to_wait(run, followers->entry[k], now);
        }
    }
    if (--run->meetings.meeting[m].missing == 0) {
        run->crowd = clock_grow(run->crowd, run->crowd_count, &run->crowd_room, sizeof *run->crowd);
        run->crowd[run->crowd_count++] = m;
        begin_meetings(run, now);
    }
}

/* ---- an entry may begin ---------------------------------------------------------------------- */

static bool is_kernel(const CudasimEntry *e) {
    return e->kind == CUDASIM_LAUNCH || e->kind == CUDASIM_PRODUCT || e->kind == CUDASIM_FILL ||
           (e->kind == CUDASIM_COPY && e->way == CUDASIM_WITHIN_DEVICE);
}

static void begin_entry(Reckoning *run, int i, double now) {
    const CudasimEntry *e = reckoning_entry(run, i);
    DeviceState *d = &run->device[e->device];
    if (run->meetings.of[i] >= 0) {
        join_meeting(run, i, now);
    } else if (is_kernel(e) && engine_seconds(e, run->machine) > 0) {
        stand(run, &d->kernels, i);
        begin_kernels(run, e->device, now);
    } else if (e->kind == CUDASIM_COPY && !is_kernel(e)) {
        stand(run, &d->copies[engine_for(run, e)], i);
        begin_copy(run, d, engine_for(run, e), now);
    } else {
        end_entry(run, i, now, now);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void run_events(Reckoning *run) {
    for (int h = 0; h < run->hosts; h++) {
        host_goes_on(run, &run->host[h]);
    }
    while (run->events.count > 0) {
        TimedEvent event = events_next(&run->events);
        if (event.what == READY) {
            begin_entry(run, event.index, event.time);
        } else if (event.what == KERNELS_OVER) {
            kernels_over(run, &event);
        } else if (event.what == COPY_OVER) {
            copy_over(run, &event);
        } else {
            meeting_over(run, &event);
        }
    }
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static Makespan result_of(const Reckoning *run) {
    Makespan sum = {0};
    for (size_t i = 0; i < run->record->count; i++) {
        const CudasimEntry *e = &run->record->entry[i];
        sum.seconds = larger(sum.seconds, run->span[i].end);
        sum.unknown += e->kind == CUDASIM_LAUNCH && e->op == NULL && e->read < 0;
    }
    for (int d = 0; d < run->devices; d++) {
        const DeviceState *device = &run->device[d];
        sum.kernels = larger(sum.kernels, device->engine.busy);
        sum.copies = larger(sum.copies, larger(device->copied[0], device->copied[1]));
        sum.links = larger(sum.links, device->linked);
    }
    for (int h = 0; h < run->hosts; h++) {
        sum.seconds = larger(sum.seconds, run->host[h].now);
        sum.launching = larger(sum.launching, run->host[h].launching);
        sum.waiting = larger(sum.waiting, run->host[h].waiting);
    }
    return sum;
}

static bool report_stuck(const Reckoning *run) {
    for (int h = 0; h < run->hosts; h++) {
        if (run->host[h].next != NONE) {
            const CudasimEntry *e = reckoning_entry(run, run->host[h].next);
            fprintf(stderr, "record: rank %d never gets past entry %llu, %s\n", h,
                    (unsigned long long)e->id, e->name);
            return false;
        }
    }
    fprintf(stderr, "record: entries wait for each other: %zu of %zu run\n", run->over,
            run->record->count);
    return false;
}

bool makespan(const CudasimRecord *record, const Machine *machine, Span *spans, Makespan *result) {
    Reckoning run = {.record = record, .machine = machine};
    if (!reckoning_begin(&run)) {
        return false;
    }
    run_events(&run);
    bool good = run.over == record->count || report_stuck(&run);
    if (good) {
        *result = result_of(&run);
        if (spans != NULL) {
            memcpy(spans, run.span, record->count * sizeof *spans);
        }
    }
    reckoning_end(&run);
    return good;
}
