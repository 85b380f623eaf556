#define _GNU_SOURCE
#include <sys/mman.h>

#include "check.h"

/* For each 4 bytes: who wrote them last, and who has read them since. Two accesses, one of them a
   write, are a race unless something orders them:

     two threads of a block     a barrier: the block's count of barriers differs
     two lanes of a warp        an operation of the warp: its count differs
     two blocks of a launch     nothing, save a fence and an atomic in the one, an atomic in the
   other two launches, or copies    their streams: the clock of the later one

   Two atomics do not race: they are remembered beside the readers, apart from plain writes. */

typedef struct Party {
    uint32_t block;    /* number of the block, or of the copy; 0: none */
    Site site;         /* line */
    uint16_t barriers; /* that the block had passed */
    uint16_t meetings; /* that the warp had passed */
    uint16_t thread;   /* of the block; several readers: WARP_OF | warp, or MANY */
    uint8_t bytes;     /* which of the 4, as bits */
    bool atomic;
} Party;

typedef struct Cell {
    Party writer; /* the last that was not atomic */
    Party reader; /* since then; or an atomic */
} Cell;

enum { WARP_OF = 0x8000, MANY = 0xFFFF };

static Cell *device_cells, *global_cells;
static const char *device_begin, *global_begin;

static Cell *reserve_cells(size_t bytes) {
    return sim_map(bytes / 4 * sizeof(Cell));
}

static Cell *cell_of(const char *p) {
    Worker *worker = sim_worker;
    if (sim_on_device(p)) {
        if (device_cells == NULL) {
            size_t bytes;
            device_begin = sim_device_range(&bytes);
            device_cells = reserve_cells(bytes);
        }
        return &device_cells[(p - device_begin) / 4];
    }
    if (p >= worker->shared && p < worker->dynamic_end) {
        if (worker->race_cells == NULL) {
            worker->race_cells = reserve_cells((size_t)(worker->dynamic_end - worker->shared));
        }
        return (Cell *)worker->race_cells + (p - worker->shared) / 4;
    }
    /* A __device__ variable: somewhere in the program's image. */
    extern char __executable_start[], _end[];
    if (global_cells == NULL) {
        global_begin = (const char *)((uintptr_t)__executable_start & ~(uintptr_t)3);
        global_cells = reserve_cells((size_t)(_end - global_begin) + 4);
    }
    return &global_cells[(p - global_begin) / 4];
}

void race_forget(const void *p, size_t bytes) {
    Cell *cells = cell_of(p);
    size_t size = (bytes + 3) / 4 * sizeof *cells;
    char *first = (char *)(((uintptr_t)cells + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    char *last = (char *)(((uintptr_t)cells + size) & ~(uintptr_t)(PAGE - 1));
    if (last > first) {
        /* Whole pages are given back, and come again as zeros. */
        memset(cells, 0, (size_t)(first - (char *)cells));
        madvise(first, (size_t)(last - first), MADV_DONTNEED);
        memset(last, 0, (size_t)((char *)cells + size - last));
    } else {
        memset(cells, 0, size);
    }
}

/* ---- which operation had which blocks? ------------------------------------------------------- */

typedef struct Period {
    uint32_t first_block;
    int stream;
    uint64_t number;
} Period;

static Period *periods;
static size_t period_count, period_room;

static void begin_period(uint32_t first_block) {
    if (period_count == period_room) {
        period_room = 2 * period_room + 1024;
        periods = sim_realloc(periods, period_room * sizeof *periods);
    }
    const Operation *operation = sim_operation();
    periods[period_count++] = (Period){first_block, operation->stream, operation->number};
}

static const Period *period_of(uint32_t block) {
    size_t low = 0, high = period_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (periods[middle].first_block <= block) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &periods[low];
}

void race_launch(void) {
    begin_period(sim_first_block());
}

/* ---- fences ---------------------------------------------------------------------------------- */

/* "Write, fence, atomic" in one block and then "atomic, read" in another is how blocks may talk. It
   is believed without looking at which atomic it was. */

enum { FENCE = 1, RELEASE = 2 /* an atomic after a fence */, ACQUIRE = 4 /* an atomic */ };
static unsigned char *fenced; /* by block of this launch */
static uint32_t fenced_first, fenced_room;

static unsigned char *fence_of(uint32_t block) {
    if (fenced_first != sim_first_block()) {
        fenced_first = sim_first_block();
        if (fenced_room > 0) {
            memset(fenced, 0, fenced_room);
        }
    }
    uint32_t i = block - fenced_first;
    if (i >= fenced_room) {
        uint32_t room = 2 * i + 1024;
        fenced = sim_realloc(fenced, room);
        memset(fenced + fenced_room, 0, room - fenced_room);
        fenced_room = room;
    }
    return &fenced[i];
}

void cudasim_fence(void) {
    if (sim_worker != NULL && sim_worker->in_kernel) {
        *fence_of(sim_worker->block) |= FENCE;
    }
}

static void note_atomic(void) {
    unsigned char *fence = fence_of(sim_worker->block);
    *fence |= *fence & FENCE ? RELEASE | ACQUIRE : ACQUIRE;
}

static bool fences_between(uint32_t other) {
    return *fence_of(other) & RELEASE && *fence_of(sim_worker->block) & ACQUIRE;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int warp_of(uint16_t thread) {
    return thread == MANY ? -1 : thread & WARP_OF ? thread & 0x3FF : thread / WARP;
}

static bool ordered(const Party *before, const Party *now) {
    if (before->block == 0) {
        return true;
    }
    if (before->block < sim_first_block()) {
        if (!sim_many_streams()) {
            return true;
        }
        const Period *period = period_of(before->block);
        return period->stream == sim_operation()->stream ||
               sim_ordered(sim_operation(), period->stream, period->number);
    }
    if (before->block != now->block) {
        return fences_between(before->block);
    }
    if (before->thread == now->thread || before->barriers != now->barriers) {
        return true;
    }
    return warp_of(before->thread) == warp_of(now->thread) && before->meetings != now->meetings;
}

/* ---- reports --------------------------------------------------------------------------------- */

typedef struct Race {
    const char *p;
    Party before, now;
    bool wrote, writes, shared;
} Race;

static const char *who(const Party *party, char text[60]) {
    if (party->block < sim_first_block()) {
        snprintf(text, 60, "other work");
    } else if (party->block != sim_worker->block) {
        snprintf(text, 60, "a thread of another block");
    } else if (party->thread == MANY) {
        snprintf(text, 60, "several threads");
    } else if (party->thread & WARP_OF) {
        snprintf(text, 60, "several threads of warp %d", warp_of(party->thread));
    } else {
        char name[40];
        snprintf(text, 60, "thread %s", sim_thread_name(sim_worker, party->thread, name));
    }
    return text;
}

static void report_streams(const Race *race, const char *here, const char *there) {
    const Operation *operation = sim_operation();
    sim_report("stream race",
               "%s at %s:%d and work of another stream touch the same memory in no "
               "order",
               operation->what, sim_file(operation->place), operation->place.line);
    sim_detail("this %s: %s", race->writes ? "write" : "read", here);
    sim_detail("other %s: %s", race->wrote ? "write" : "read", there);
    sim_detail_thread();
    sim_detail_address(race->p);
    sim_detail("record an event after the one and let the other's stream wait for it");
}

static void report_race(const Race *race) {
    char here[600], there[600], other[60];
    bool streams = race->before.block < sim_first_block();
    const char *kind = streams ? "stream race" : "race";
    if (!first_report(kind, race->now.site, race->before.site)) {
        return;
    }
    describe_site(race->now.site, here, sizeof here);
    describe_site(race->before.site, there, sizeof there);
    if (streams) {
        report_streams(race, here, there);
        return;
    }
    sim_report(kind, "%s memory is %s here and %s by %s, and nothing orders the two",
               race->shared ? "shared" : "global", race->writes ? "written" : "read",
               race->wrote ? "written" : "read", who(&race->before, other));
    sim_detail("this %s: %s", race->writes ? "write" : "read", here);
    sim_detail("other %s: %s", race->wrote ? "write" : "read", there);
    sim_detail_thread();
    detail_memory(race->p, race->shared);
    if (race->before.block != race->now.block) {
        sim_detail("blocks run in any order: use atomics, or give each block its own output");
    } else {
        sim_detail(
            "a __syncthreads() is missing between the two, or at the end of the loop's body");
    }
}

/* Many threads that write the same value do no harm ("found = 1"). The hook comes before the store,
   so two writes are looked at again when the thread has stored. */
static struct {
    bool set;
    Race race;
    uint32_t value;
} later;

static const char *word_of(const char *p) {
    return (const char *)((uintptr_t)p & ~(uintptr_t)3);
}

void race_flush(void) {
    if (!later.set) {
        return;
    }
    later.set = false;
    uint32_t value;
    memcpy(&value, word_of(later.race.p), sizeof value);
    if (value != later.value) {
        report_race(&later.race);
    }
}

static void found(const Race *race) {
    bool in_launch = race->before.block >= sim_first_block();
    if (in_launch && race->wrote && race->writes && !race->before.atomic && !race->now.atomic) {
        later.set = true;
        later.race = *race;
        memcpy(&later.value, word_of(race->p), sizeof later.value);
    } else {
        report_race(race);
    }
}

/* ---- one access ------------------------------------------------------------------------------ */

static void remember_reader(Cell *cell, const Party *now) {
    Party *reader = &cell->reader;
    bool together =
        reader->thread != now->thread && !ordered(reader, now) && reader->block == now->block;
    if (!together) {
        *reader = *now;
        return;
    }
    int warp = warp_of(now->thread);
    uint16_t several = warp_of(reader->thread) == warp ? (uint16_t)(WARP_OF | warp) : MANY;
    uint8_t bytes = reader->bytes | now->bytes;
    *reader = *now;
    reader->thread = several;
    reader->bytes = bytes;
}

/* Shared memory of another block is other memory, which only happened to lie here. */
static bool conflict(const Party *before, const Party *now, bool shared) {
    return before->bytes & now->bytes && !(shared && before->block != now->block) &&
           !ordered(before, now);
}

static void visit(Cell *cell, const char *p, const Party *now, bool write, bool shared) {
    const Party *writer = &cell->writer, *reader = &cell->reader;
    bool reader_matters = now->atomic ? !reader->atomic : write || reader->atomic;
    if (conflict(writer, now, shared)) {
        found(&(Race){p, *writer, *now, true, write, shared});
    } else if (reader_matters && conflict(reader, now, shared)) {
        found(&(Race){p, *reader, *now, reader->atomic, write, shared});
    }
    if (write && !now->atomic) {
        cell->writer = *now;
        cell->reader = (Party){0};
    } else {
        remember_reader(cell, now);
    }
}

/* Which bytes of the cell at p an access up to end touches, as bits. */
static uint8_t bytes_of(const char *p, const char *end) {
    unsigned first = (uintptr_t)p % 4;
    size_t n = (size_t)(end - p) < 4 - first ? (size_t)(end - p) : 4 - first;
    return (uint8_t)(((1u << n) - 1) << first);
}

static void visit_all(const char *p, size_t bytes, Party now, bool write, bool shared) {
    for (const char *end = p + bytes; p < end; p = word_of(p) + 4) {
        now.bytes = bytes_of(p, end);
        visit(cell_of(p), p, &now, write, shared);
    }
}

void race_access(const Access *access) {
    const Worker *worker = sim_worker;
    int thread = worker->fiber->thread;
    if (access->atomic) {
        note_atomic();
    }
    Party now = {worker->block,
                 access->site,
                 (uint16_t)worker->barriers,
                 worker->meetings[thread / WARP],
                 (uint16_t)thread,
                 0,
                 access->atomic};
    visit_all(access->p, access->bytes, now, access->write, access->shared);
}

void race_range(const void *p, size_t bytes, bool write) {
    if (!sim_many_streams()) {
        return;
    }
    uint32_t number = sim_new_operation();
    begin_period(number);
    visit_all(p, bytes, (Party){.block = number, .site = site_of_place(sim_operation()->place)},
              write, false);
}
