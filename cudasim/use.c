#include "device.h"
#include "graph.h"
#include "queue.h"

/* Which memory waiting work will use. What a call knows of it, the pointers among its arguments, it
   notes before it submits the work. A graph asks again at each launch: the memory may have been
   freed in the meantime. */

/* ---- jobs ----------------------------------------------------------------------------------- */

HeldWork *held_work_new(Work work) {
    HeldWork *job = sim_realloc(NULL, sizeof *job);
    *job = (HeldWork){.work = work, .holders = 1};
    return job;
}

HeldWork *held_work_hold(HeldWork *job) {
    job->holders++;
    return job;
}

void held_work_drop(HeldWork *job) {
    if (job == NULL || --job->holders > 0) {
        return;
    }
    if (job->work.release != NULL) {
        job->work.release(job->work.context);
    }
    free(job->uses);
    free(job);
}

/* ---- what the next work of this thread uses -------------------------------------------------- */

static __thread struct {
    Use *use;
    int count, room;
    Place place; /* of the call */
} noted;

static bool is_noted(Place place) {
    return noted.count > 0 && noted.place.line == place.line && noted.place.file == place.file;
}

static void note(Allocation *allocation, Place place) {
    if (!is_noted(place)) {
        noted.count = 0; /* those of a call that came to nothing */
    }
    if (noted.count == noted.room) {
        noted.room = 2 * noted.room + 8;
        noted.use = sim_realloc(noted.use, (size_t)noted.room * sizeof *noted.use);
    }
    noted.place = place;
    noted.use[noted.count++] = (Use){allocation, allocation->number};
}

/* LeakSanitizer, where it is, does not look for pointers in the table of allocations. */
void __lsan_ignore_object(const void *p) __attribute__((weak));

static LastUse *last_use(Allocation *allocation, int slot) {
    for (int i = 0; i < allocation->used_count; i++) {
        if (allocation->used[i].slot == slot) {
            return &allocation->used[i];
        }
    }
    size_t count = (size_t)++allocation->used_count;
    allocation->used = sim_realloc(allocation->used, count * sizeof *allocation->used);
    if (__lsan_ignore_object != NULL) {
        __lsan_ignore_object(allocation->used);
    }
    allocation->used[count - 1] = (LastUse){.slot = slot};
    return &allocation->used[count - 1];
}

uint64_t use_number(const Allocation *allocation, int slot) {
    for (int i = 0; i < allocation->used_count; i++) {
        if (allocation->used[i].slot == slot) {
            return allocation->used[i].number;
        }
    }
    return 0;
}

void use_by(const Operation *operation) {
    for (int i = 0; is_noted(operation->place) && i < noted.count; i++) {
        last_use(noted.use[i].allocation, operation->stream)->number = operation->number;
    }
    noted.count = 0;
}

void use_given_to(HeldWork *job) {
    if (is_noted(job->work.place)) {
        job->uses = noted.use;
        job->use_count = noted.count;
        noted.use = NULL;
        noted.room = 0;
    }
    noted.count = 0;
}

/* ---- now ------------------------------------------------------------------------------------- */

static bool report_freed(const Allocation *allocation, const char *what, Place place) {
    sim_report("use after free", "%s at %s:%d uses memory that was freed before", what,
               sim_file(place), place.line);
    sim_detail_address(allocation->base);
    return false;
}

static void report_maker(Allocation *allocation, const char *what, Place place) {
    allocation->unordered = true;
    sim_report(
        "stream race",
        "%s at %s:%d uses memory that another stream makes later, and nothing orders the two", what,
        sim_file(place), place.line);
    sim_detail_address(allocation->base);
    sim_detail("memory from cudaMallocAsync exists from its place in its stream on: let this "
               "stream wait for an event of that one");
}

static void check_maker(Allocation *allocation, int slot, const char *what, Place place) {
    int maker = allocation->maker_stream;
    if (maker >= 0 && maker != slot) {
        Clock clock;
        sim_clock_of(slot, &clock);
        if (clock_at(&clock, maker) < allocation->maker_number) {
            report_maker(allocation, what, place);
        }
    }
}

bool sim_use(Allocation *allocation, int slot, const char *what, Place place) {
    if (allocation->given_back) {
        return report_freed(allocation, what, place);
    }
    if (!sim_is_own(allocation, what, place)) {
        return false;
    }
    if (!capture_takes(slot)) {
        check_maker(allocation, slot, what, place);
    }
    note(allocation, place);
    return true;
}

bool use_again(const HeldWork *job, int slot, Place launched) {
    for (int i = 0; i < job->use_count; i++) {
        Allocation *allocation = job->uses[i].allocation;
        bool same = allocation->number == job->uses[i].number;
        if (!same || allocation->given_back) {
            sim_report("use after free",
                       "cudaGraphLaunch at %s:%d: memory that %s at %s:%d uses was freed before",
                       sim_file(launched), launched.line, job->work.what, sim_file(job->work.place),
                       job->work.place.line);
            if (same) {
                sim_detail_address(allocation->base);
            }
            return false;
        }
        check_maker(allocation, slot, job->work.what, job->work.place);
        note(allocation, job->work.place);
    }
    return true;
}
