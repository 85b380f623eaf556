/* A simulator of queues: events in the order of time, at one time in the order of the record. The
   contract is in makespan.h. */
#include "cudasim/clock/makespan.h"

#include <stdlib.h>
#include <string.h>

#include "cudasim/clock/engine.h"
#include "cudasim/clock/events.h"
#include "cudasim/clock/meeting.h"
#include "cudasim/clock/memory.h"

enum { NONE = -1, WAYS = 2 /* a bus has two */ };

/* Entries that wait for a place, the first come first. */
typedef struct Line {
    int first, last;
} Line;

/* One device. */
typedef struct DeviceState {
    Engine engine;
    Line kernels;
    Line copies[WAYS];
    bool copying[WAYS];
    double copied[WAYS]; /* seconds */
    bool sends, receives;
    double linked; /* seconds */
} DeviceState;

/* The host of a rank. */
typedef struct HostState {
    int next;     /* entry; NONE: it has made all of its calls */
    bool calling; /* it makes calls now: an entry that is over need not wake it */
    double now;
    double launching, waiting;
} HostState;

typedef struct Reckoning {
    const CudasimRecord *record;
    const Machine *machine;
    Span *span;
    int *waits;            /* of each entry: for how many things, its issue among them */
    double *ready;         /* of each entry: when what it has waited for so far was over */
    int *child, *children; /* of entry i: child[children[i]] to child[children[i + 1] - 1] */
    int *next;  /* the next entry in the line that it waits in; of the host's, the next call */
    int *parts; /* of each entry: what must end before it is over: its meeting, and the call of its
                   group before it */
    DeviceState *device;
    HostState *host;
    int devices, hosts;
    Meetings meetings;
    int *crowd, crowd_count, crowd_room; /* meetings that are complete and want links */
    Events events;
    size_t over; /* entries */
} Reckoning;

static const CudasimEntry *entry_of(const Reckoning *run, int i) {
    return &run->record->entry[i];
}

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

static bool is_host(const CudasimEntry *e) {
    return e->stream < 0;
}

/* Whether the host spends the time of a launch on it. */
static bool is_call(const CudasimEntry *e) {
    bool work = e->kind < CUDASIM_EVENT || e->kind == CUDASIM_HOST_CALL;
    return e->kind == CUDASIM_GRAPH || (work && e->graph == 0);
}

/* Calls of a group begin side by side, and end in their order. */
static bool one_group(const CudasimEntry *a, const CudasimEntry *b) {
    return a->kind == CUDASIM_COLLECTIVE && b->kind == CUDASIM_COLLECTIVE && a->group != 0 &&
           a->group == b->group && a->communicator == b->communicator && a->rank == b->rank;
}

static void less_to_wait(Reckoning *run, int i, double time) {
    run->ready[i] = time > run->ready[i] ? time : run->ready[i];
    if (--run->waits[i] == 0 && !is_host(entry_of(run, i))) {
        events_add(&run->events, run->ready[i], READY, i, 0);
    }
}

static void end_entry(Reckoning *run, int i, double begin, double end);

/* One call; entries that are issued for a later time do not run before it. */
static void make_call(Reckoning *run, HostState *host, int i) {
    const CudasimEntry *e = entry_of(run, i);
    double begin = host->now;
    if (is_call(e)) {
        host->now += run->machine->launch;
        host->launching += run->machine->launch;
    }
    host->next = run->next[i];
    if (!is_host(e)) {
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
           !(is_host(entry_of(run, host->next)) && run->waits[host->next] > 0)) {
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
    for (int k = run->children[i]; k < run->children[i + 1]; k++) {
        int child = run->child[k];
        if (one_group(entry_of(run, i), entry_of(run, child))) {
            end_part(run, child, end);
            continue;
        }
        less_to_wait(run, child, end);
        HostState *host = &run->host[entry_of(run, child)->rank];
        if (host->next == child && !host->calling && run->waits[child] == 0) {
            host_goes_on(run, host);
        }
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void plan(Reckoning *run, int device) {
    Engine *engine = &run->device[device].engine;
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
        engine_add(&d->engine, run->machine, entry_of(run, i), i, now);
    }
    plan(run, device);
}

static void kernels_over(Reckoning *run, const Event *event) {
    enum { MOST = 1024 };
    int over[MOST];
    Engine *engine = &run->device[event->index].engine;
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
    const CudasimEntry *e = entry_of(run, i);
    const Machine *m = run->machine;
    double seconds = e->bytes / (e->way == CUDASIM_FROM_DEVICE ? m->from_device : m->to_device);
    run->span[i].begin = now;
    d->copying[engine] = true;
    d->copied[engine] += seconds;
    events_add(&run->events, now + seconds, COPY_OVER, i, 0);
}

static void copy_over(Reckoning *run, const Event *event) {
    const CudasimEntry *e = entry_of(run, event->index);
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
        const CudasimEntry *e = entry_of(run, m->member[k]);
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
            run->device[entry_of(run, m->member[i])->device].linked += m->seconds;
        }
        events_add(&run->events, now + m->seconds, MEETING_OVER, run->crowd[k], 0);
    }
    run->crowd_count = kept;
}

static void meeting_over(Reckoning *run, const Event *event) {
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
    for (int k = run->children[i]; k < run->children[i + 1]; k++) {
        if (one_group(entry_of(run, i), entry_of(run, run->child[k]))) {
            less_to_wait(run, run->child[k], now);
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
    const CudasimEntry *e = entry_of(run, i);
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

/* ---- the record ------------------------------------------------------------------------------ */

static void find_children(Reckoning *run) {
    size_t count = run->record->count, total = 0;
    uint64_t first = count > 0 ? run->record->entry[0].id : 0;
    run->children = clock_new(count + 2, sizeof *run->children);
    for (size_t i = 0; i < count; i++) {
        const CudasimEntry *e = &run->record->entry[i];
        run->parts[i] = run->meetings.of[i] >= 0;
        for (int k = 0; k < e->after_count; k++, total++) {
            run->children[e->after[k] - first + 2]++;
            run->parts[i] += one_group(e, &run->record->entry[e->after[k] - first]);
        }
        run->waits[i] = e->after_count + !is_host(e);
    }
    for (size_t i = 2; i < count + 2; i++) {
        run->children[i] += run->children[i - 1];
    }
    run->child = clock_new(total, sizeof *run->child);
    for (size_t i = 0; i < count; i++) {
        const CudasimEntry *e = &run->record->entry[i];
        for (int k = 0; k < e->after_count; k++) {
            run->child[run->children[e->after[k] - first + 1]++] = (int)i;
        }
    }
}

static void find_devices_and_hosts(Reckoning *run) {
    size_t count = run->record->count;
    for (size_t i = 0; i < count; i++) {
        const CudasimEntry *e = &run->record->entry[i];
        int most = e->kind == CUDASIM_COPY && e->peer > e->device ? e->peer : e->device;
        run->devices = most >= run->devices ? most + 1 : run->devices;
        run->hosts = e->rank >= run->hosts ? e->rank + 1 : run->hosts;
    }
    run->device = clock_new((size_t)run->devices, sizeof *run->device);
    for (int d = 0; d < run->devices; d++) {
        run->device[d].kernels.first = NONE;
        run->device[d].copies[0].first = run->device[d].copies[1].first = NONE;
    }
    run->host = clock_new((size_t)run->hosts, sizeof *run->host);
    int *last = clock_new((size_t)run->hosts, sizeof *last);
    for (int h = 0; h < run->hosts; h++) {
        run->host[h].next = last[h] = NONE;
    }
    for (int i = 0; i < (int)count; i++) {
        int rank = run->record->entry[i].rank;
        *(last[rank] == NONE ? &run->host[rank].next : &run->next[last[rank]]) = i;
        run->next[i] = NONE;
        last[rank] = i;
    }
    free(last);
}

static bool begin(Reckoning *run) {
    size_t count = run->record->count;
    if (!meetings_find(run->record, run->machine, &run->meetings)) {
        return false;
    }
    run->span = clock_new(count, sizeof *run->span);
    run->waits = clock_new(count, sizeof *run->waits);
    run->ready = clock_new(count, sizeof *run->ready);
    run->next = clock_new(count, sizeof *run->next);
    run->parts = clock_new(count, sizeof *run->parts);
    find_children(run);
    find_devices_and_hosts(run);
    return true;
}

static void end(Reckoning *run) {
    for (int d = 0; d < run->devices; d++) {
        free(run->device[d].engine.running);
    }
    meetings_free(&run->meetings);
    void *all[] = {run->span,  run->waits,  run->ready, run->child, run->children,    run->next,
                   run->parts, run->device, run->host,  run->crowd, run->events.event};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void run_events(Reckoning *run) {
    for (int h = 0; h < run->hosts; h++) {
        host_goes_on(run, &run->host[h]);
    }
    while (run->events.count > 0) {
        Event event = events_next(&run->events);
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
            const CudasimEntry *e = entry_of(run, run->host[h].next);
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
    if (!begin(&run)) {
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
    end(&run);
    return good;
}
