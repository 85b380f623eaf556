#include "race.h"
#include "operation.h"

/* For each 4 bytes: who wrote them last, and who has read them since. Two accesses, one of them a
   write, are a race unless something orders them:

     two threads of a block     a barrier: the block's count of barriers differs
     two lanes of a warp        an operation of the warp: its count differs
     two blocks of a launch     nothing, save a fence and an atomic in the one, an atomic in the
   other two launches, or copies    their streams: the clock of the later one

   Two atomics do not race, if they are of one width: they are remembered beside the readers, apart
   from plain writes. A volatile store after a fence, and a volatile load, are how people wrote
   flags before there were better ways: they order what an atomic would, and that is only noted. */

void race_own(const Cell *cell, const Party *now, unsigned known) {
    uint16_t *owner = race_aside(cell)->owner;
    for (int i = 0; i < 4; i++) {
        if (now->bytes >> i & 1) {
            owner[i] = known >> i & 1 && owner[i] != now->thread ? MANY : now->thread;
        }
    }
}

/* Whether all bytes that this thread is about to change have been read by nobody else. */
static bool all_own(const Cell *cell, const Party *now) {
    if (!(cell->reader.bytes & OWNED) || cell->reader.block != now->block) {
        return false;
    }
    const uint16_t *owner = race_aside(cell)->owner;
    for (int i = 0; i < 4; i++) {
        if ((cell->reader.bytes & now->bytes) >> i & 1 && owner[i] != now->thread) {
            return false;
        }
    }
    return true;
}

/* ---- which operation had which blocks? ------------------------------------------------------- */

enum { HOST = -1 /* the stream of what the host itself does */ };

typedef struct Period {
    uint32_t first_block;
    int stream;
    uint64_t number; /* in the stream; of HOST, how much was submitted before */
} Period;

static Period *periods;
static size_t period_count, period_room;

static void add_period(Period period) {
    if (period_count == period_room) {
        period_room = 2 * period_room + 1024;
        periods = sim_realloc(periods, period_room * sizeof *periods);
    }
    periods[period_count++] = period;
}

static void begin_period(uint32_t first_block) {
    const Operation *operation = sim_operation();
    add_period((Period){first_block, operation->stream, operation->number});
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

/* "Write, fence, atomic" in one block and then "atomic, read" in another is how blocks may talk,
   and threads of a block too. It is believed without looking at which atomic it was. */

enum { FENCE = 1, RELEASE = 2 /* an atomic after a fence */, ACQUIRE = 4 /* an atomic */ };

typedef struct BlockFence {
    SharedFence at;
    unsigned char seen;                      /* by any thread */
    uint32_t releasing_warp, acquiring_warp; /* as bits */
} BlockFence;

static BlockFence *fenced; /* by block of this launch */
static uint32_t fenced_first, fenced_room;

static BlockFence *fence_of(uint32_t block) {
    if (fenced_first != sim_first_block()) {
        fenced_first = sim_first_block();
        if (fenced_room > 0) {
            memset(fenced, 0, fenced_room * sizeof *fenced);
        }
    }
    uint32_t i = block - fenced_first;
    if (i >= fenced_room) {
        uint32_t room = 2 * i + 1024;
        fenced = sim_realloc(fenced, room * sizeof *fenced);
        memset(fenced + fenced_room, 0, (room - fenced_room) * sizeof *fenced);
        fenced_room = room;
    }
    return &fenced[i];
}

static unsigned char *fence_of_thread(uint16_t thread) {
    Worker *worker = sim_worker;
    if (worker->fenced_block != worker->block) {
        worker->fenced_block = worker->block;
        memset(worker->fenced, 0, sizeof worker->fenced);
        memset(worker->warp_fence, 0, sizeof worker->warp_fence);
    }
    return &worker->fenced[thread % MAX_THREADS];
}

void cudasim_fence(int of_block) {
    if (sim_worker != NULL && sim_worker->in_kernel) {
        *fence_of_thread((uint16_t)sim_worker->fiber->thread) |= FENCE;
        if (!of_block) {
            fence_of(sim_worker->block)->seen |= FENCE;
        }
    }
}

static bool note_atomic_in(unsigned char *fence) {
    *fence |= *fence & FENCE ? RELEASE | ACQUIRE : ACQUIRE;
    return *fence & RELEASE;
}

static void note_passed(SharedFence *fence, bool releases, uint16_t passed) {
    if (releases) {
        fence->released = true;
        fence->released_at = passed;
    }
    if (!fence->acquired) {
        fence->acquired = true;
        fence->acquired_at = passed;
    }
}

static void note_atomic_of_block(uint16_t thread) {
    BlockFence *block = fence_of(sim_worker->block);
    bool releases = note_atomic_in(&block->seen);
    uint32_t warp = UINT32_C(1) << thread / WARP;
    note_passed(&block->at, releases, (uint16_t)sim_worker->barriers);
    block->releasing_warp |= releases ? warp : 0;
    block->acquiring_warp |= warp;
}

static void note_atomic(uint16_t thread, bool of_block) {
    if (!of_block) {
        note_atomic_of_block(thread);
    }
    note_passed(&sim_worker->warp_fence[thread / WARP], note_atomic_in(fence_of_thread(thread)),
                sim_worker->meetings[thread / WARP]);
}

/* Of threads of several warps, one may have been there. */
static bool was_there(uint32_t warps, uint16_t thread) {
    int warp = race_warp(thread);
    return warp < 0 || warps >> warp & 1;
}

/* A thread speaks for all threads of its block that it meets at a barrier after they have stored,
   and listens for those that it meets before they read. Of its own warp more is believed. */
static bool block_released(const Party *before) {
    const BlockFence *block = fence_of(before->block);
    return block->at.released && (was_there(block->releasing_warp, before->thread) ||
                                  (int16_t)(block->at.released_at - before->barriers) > 0);
}

static bool block_acquired(const Party *now) {
    const BlockFence *block = fence_of(now->block);
    return block->at.acquired && (was_there(block->acquiring_warp, now->thread) ||
                                  (int16_t)(now->barriers - block->at.acquired_at) > 0);
}

static bool fences_between(const Party *before, const Party *now) {
    return block_released(before) && block_acquired(now);
}

bool race_between_signs(const Race *race) {
    return fence_of(race->before.block)->at.released && fence_of(race->now.block)->at.acquired;
}

/* A lane speaks for all lanes with which it has met since they stored, and listens for all that it
   meets before they read. */
static bool released(const Party *before) {
    if (before->thread < MAX_THREADS && *fence_of_thread(before->thread) & RELEASE) {
        return true;
    }
    int warp = race_warp(before->thread);
    const SharedFence *fence = warp >= 0 ? &sim_worker->warp_fence[warp] : NULL;
    return fence != NULL && fence->released && (int16_t)(fence->released_at - before->meetings) > 0;
}

static bool acquired(const Party *now) {
    if (*fence_of_thread(now->thread) & ACQUIRE) {
        return true;
    }
    const SharedFence *fence = &sim_worker->warp_fence[race_warp(now->thread)];
    return fence->acquired && (int16_t)(now->meetings - fence->acquired_at) > 0;
}

static bool fences_between_threads(const Party *before, const Party *now) {
    return acquired(now) && released(before);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The host has set a flag since then, and this block has looked at one. */
static bool host_told(uint32_t block) {
    bool in_kernel = sim_worker != NULL && sim_worker->in_kernel;
    return in_kernel && race_host_signalled(block, true) &&
           fence_of(sim_worker->block)->at.acquired;
}

/* Whether work with this block's number comes before what runs now: an operation, or the host. */
static bool comes_before(uint32_t block) {
    if (!sim_many_streams() && !race_watches_host) {
        return true;
    }
    const Period *period = period_of(block);
    const Operation *now = sim_operation();
    if (period->stream == HOST) {
        return now == NULL || period->number < now->serial || host_told(block);
    }
    if (now == NULL) {
        return sim_host_ordered(period->stream, period->number) ||
               race_host_signalled(block, false);
    }
    return period->stream == now->stream || sim_ordered(now, period->stream, period->number);
}

static bool ordered(const Party *before, const Party *now) {
    if (before->block == 0) {
        return true;
    }
    if (before->block < sim_first_block()) {
        return comes_before(before->block);
    }
    if (before->block != now->block) {
        return fences_between(before, now);
    }
    if (before->thread == now->thread || before->barriers != now->barriers) {
        return true;
    }
    if (race_warp(before->thread) == race_warp(now->thread) && before->meetings != now->meetings) {
        return true;
    }
    return fences_between_threads(before, now);
}

/* ---- one access ------------------------------------------------------------------------------ */

void race_keep_rival(const Cell *cell) {
    race_aside(cell)->rival = cell->reader;
}

/* The reader is about to give way to another. If that one stores next, whom it conflicts with is
   not itself: so one of another block or operation, which nothing orders before it, is kept. Of two
   that is the one of another operation, since the blocks of one usually read what none changes. */
static uint8_t keep_rival(const Cell *cell, const Party *now, bool shared) {
    const Party *reader = &cell->reader;
    uint8_t kept = reader->bytes & RIVAL;
    if (shared || reader->block == now->block) {
        return kept;
    }
    if (kept) {
        const Party *rival = &race_aside(cell)->rival;
        if (rival->block < sim_first_block() && !ordered(rival, now)) {
            return RIVAL;
        }
    }
    if (ordered(reader, now)) {
        return kept && !ordered(&race_aside(cell)->rival, now) ? RIVAL : 0;
    }
    race_keep_rival(cell);
    return RIVAL;
}

/* Of several readers the first gives its line: a thread that writes has often read just before. */
static void remember_reader(Cell *cell, const Party *now, bool shared) {
    Party *reader = &cell->reader;
    bool together = reader->thread != now->thread && reader->atomic == now->atomic &&
                    !ordered(reader, now) && reader->block == now->block;
    if (!together) {
        uint8_t kept = keep_rival(cell, now, shared);
        *reader = *now;
        if (now->bytes != 0xF) {
            race_own(cell, now, 0);
            reader->bytes |= OWNED;
        }
        reader->bytes |= kept;
        return;
    }
    if (reader->bytes & OWNED) {
        race_own(cell, now, reader->bytes);
    }
    int warp = race_warp(now->thread);
    uint16_t several = race_warp(reader->thread) == warp ? (uint16_t)(WARP_OF | warp) : MANY;
    uint8_t bytes = reader->bytes | now->bytes;
    Site first = reader->site;
    *reader = *now;
    reader->thread = several;
    reader->bytes = bytes;
    reader->site = first;
}

/* Shared memory of another block is other memory, which only happened to lie here. */
static bool conflict(const Party *before, const Party *now, bool shared) {
    return before->bytes & now->bytes & 0xF && !(shared && before->block != now->block) &&
           !ordered(before, now);
}

/* Those of the bytes that are written now; of a part that stays they may be known. */
static void forget_readers(Cell *cell, const Party *now) {
    uint8_t left = cell->reader.bytes & 0xF & ~now->bytes;
    if (cell->reader.bytes & RIVAL) {
        race_aside(cell)->rival.bytes &= (uint8_t)~now->bytes;
    }
    if (left != 0 && cell->reader.bytes & OWNED) {
        cell->reader.bytes = (cell->reader.bytes & ~0xF) | left;
    } else {
        cell->reader = (Party){0};
    }
}

static void visit(Cell *cell, const char *p, const Party *now, bool write, bool shared) {
    const Party *writer = &cell->writer, *reader = &cell->reader;
    const Party *rival = reader->bytes & RIVAL ? &race_aside(cell)->rival : NULL;
    bool reader_wrote = reader->atomic > FLAG;
    bool rival_wrote = rival != NULL && rival->atomic > FLAG;
    bool explained = write && race_explains(p, now->bytes & 0xF, now->atomic > FLAG);
    if (!explained && conflict(writer, now, shared)) {
        race_found(&(Race){p, *writer, *now, true, write, shared});
    } else if ((write || reader_wrote) && conflict(reader, now, shared) && !all_own(cell, now)) {
        race_found(&(Race){p, *reader, *now, reader_wrote, write, shared});
    } else if (rival != NULL && (write || rival_wrote) && conflict(rival, now, shared)) {
        race_found(&(Race){p, *rival, *now, rival_wrote, write, shared});
    }
    if (write && now->atomic <= FLAG) {
        cell->writer = *now;
        forget_readers(cell, now);
    } else if (!race_reads_back(writer, now)) {
        remember_reader(cell, now, shared);
    }
}

/* Which bytes of the cell at p an access up to end touches, as bits. */
static uint8_t bytes_of(const char *p, const char *end) {
    unsigned first = (uintptr_t)p % 4;
    size_t n = (size_t)(end - p) < 4 - first ? (size_t)(end - p) : 4 - first;
    return (uint8_t)(((1u << n) - 1) << first);
}

static void visit_all(const char *p, size_t bytes, Party now, bool write, bool shared) {
    for (const char *end = p + bytes; p < end; p = race_word(p) + 4) {
        now.bytes = bytes_of(p, end);
        visit(race_cell(p), p, &now, write, shared);
    }
}

static const void *narrow_at; /* the next atomic, if it is the block's alone */

void cudasim_within_block(const volatile void *p) {
    narrow_at = replay_runs() ? NULL : (const void *)(uintptr_t)p;
}

static uint8_t kind_of(const Access *access, uint16_t thread) {
    if (access->atomic) {
        bool narrow = access->p == narrow_at;
        narrow_at = NULL;
        return (uint8_t)(access->bytes | (narrow ? OF_BLOCK : 0));
    }
    bool flag = access->is_volatile && !sim_settings.strict &&
                (!access->write || *fence_of_thread(thread) & FENCE);
    return flag ? FLAG : PLAIN;
}

void race_access(const Access *access) {
    const Worker *worker = sim_worker;
    uint16_t thread = (uint16_t)worker->fiber->thread;
    uint8_t kind = kind_of(access, thread);
    if (kind != PLAIN) {
        note_atomic(thread, kind & OF_BLOCK);
    }
    Party now = {worker->block,
                 access->site,
                 (uint16_t)worker->barriers,
                 worker->meetings[thread / WARP],
                 thread,
                 0,
                 kind};
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

/* All accesses of the host have one number as long as it submits nothing and nothing runs. */
static uint32_t host_block(void) {
    static uint32_t block;
    static uint64_t submitted;
    if (block == 0 || block != sim_first_block() || submitted != sim_submitted()) {
        block = sim_new_operation();
        submitted = sim_submitted();
        add_period((Period){block, HOST, submitted});
    }
    return block;
}

void race_of_host(const char *p, size_t bytes, bool write, Site site) {
    visit_all(p, bytes, (Party){.block = host_block(), .site = site}, write, false);
}

bool race_by_host(uint32_t block) {
    return period_of(block)->stream == HOST;
}
