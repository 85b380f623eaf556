#include "allocation.h"
#include "check.h"

/* An access that is not seen must not matter. Instrumentation sees spellings: no hook announces an
   access by a machine's builtin, by assembler, in a function that a compiler leaves alone. So a
   launch runs a second time, in the same order, on the same memory in disguise: each byte that
   it touched is combined with a random one. A hook takes the disguise off the bytes that it
   announces, and the next hooks put it on again. Who reads without being seen reads noise, and what
   is written without being seen comes out as noise. So if both runs leave the same memory behind,
   nothing happened that was not seen.

   An allocation is closed when the launch begins, and faults when it is touched first: that is when
   its copy is made. So no list of what a kernel might reach is needed. */

enum { TOUCHED = 4096, WINDOWS = 2, WORD = 8 };

typedef enum Phase {
    IDLE,     /* no launch is looked at */
    FIRST,    /* runs for its results */
    DISGUISED /* runs again */
} Phase;

/* Bytes without their disguise. A statement that copies has two. */
typedef struct BareBytes {
    char *p;
    size_t bytes;
    bool narrow;   /* they are 4, at a multiple of 4 */
    uint32_t mask; /* and this is what they are combined with */
} BareBytes;

static Phase phase;
static Allocation *touched[TOUCHED];
static int touched_count;
static bool too_many; /* to be looked at */
static bool astray;   /* the second run had something to report */
static int findings_before;
static uint64_t key;
static uint32_t nowhere; /* so that a closed window is turned like the others */
static const BareBytes closed = {(char *)&nowhere, sizeof nowhere, true, 0};
static BareBytes window[WINDOWS];
static unsigned newest;

/* Beside each byte of device memory: what it held before, what it held after the first run, and
   a bit: was it seen to be written? */
static char *before, *after;
static unsigned char *written;
static const char *begin;

static void reserve_copies(void) {
    if (before == NULL) {
        size_t bytes;
        begin = sim_device_range(&bytes);
        before = sim_map(bytes);
        after = sim_map(bytes);
        written = sim_map(bytes / 8);
    }
}

/* ---- the disguise ---------------------------------------------------------------------------- */

static uint64_t noise(const void *word) {
    uint64_t x = ((uint64_t)(uintptr_t)word / WORD ^ key) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
    return x ^ x >> 32;
}

/* Puts the disguise on, or takes it off. */
static void turn(char *p, size_t bytes) {
    for (char *end = p + bytes; p < end;) {
        uint64_t mask = noise(p);
        if ((uintptr_t)p % WORD == 0 && end - p >= WORD) {
            uint64_t word;
            memcpy(&word, p, WORD);
            word ^= mask;
            memcpy(p, &word, WORD);
            p += WORD;
        } else {
            *p = (char)(*p ^ (char)(mask >> 8 * ((uintptr_t)p % WORD)));
            p++;
        }
    }
}

static BareBytes bare(char *p, size_t bytes) {
    uint64_t mask = noise(p) >> 8 * ((uintptr_t)p % WORD);
    return (BareBytes){p, bytes, bytes == 4 && (uintptr_t)p % 4 == 0, (uint32_t)mask};
}

static inline void turn_narrow(const BareBytes *w) {
    uint32_t word;
    memcpy(&word, w->p, sizeof word);
    word ^= w->mask;
    memcpy(w->p, &word, sizeof word);
}

static inline void turn_window(const BareBytes *w) {
    if (w->narrow) {
        turn_narrow(w);
    } else {
        turn(w->p, w->bytes);
    }
}

static inline bool overlaps(const BareBytes *w, const char *p, size_t bytes) {
    return p < w->p + w->bytes && w->p < p + bytes;
}

static inline void close_window(BareBytes *w) {
    turn_window(w);
    *w = closed;
}

static void close_windows(void) {
    for (int i = 0; i < WINDOWS; i++) {
        close_window(&window[i]);
    }
}

static __attribute__((noinline)) void open_window(char *p, size_t bytes) {
    newest = (newest + 1) % WINDOWS;
    close_window(&window[newest]);
    for (int i = 0; i < WINDOWS; i++) {
        if (overlaps(&window[i], p, bytes)) {
            close_window(&window[i]);
        }
    }
    window[newest] = bare(p, bytes);
    turn_window(&window[newest]);
}

/* ---- what the hooks say ---------------------------------------------------------------------- */

bool replay_runs(void) {
    return phase == DISGUISED;
}

void replay_access(const void *address, size_t bytes) {
    char *p = (char *)(uintptr_t)address;
    const Allocation *a = sim_on_device(p) ? sim_allocation(p) : NULL;
    if (a != NULL && p + bytes <= a->pages + a->length) {
        open_window(p, bytes);
    }
}

/* The usual case in a few instructions; all others as open_window() does it. */
void replay_show(char *p, size_t bytes) {
    _Static_assert(WINDOWS == 2, "one to close, one to keep");
    BareBytes *oldest = &window[1 - newest];
    if (bytes == 4 && oldest->narrow && !overlaps(&window[newest], p, 4)) {
        newest = 1 - newest;
        turn_narrow(oldest);
        *oldest = bare(p, 4);
        turn_narrow(oldest);
    } else {
        open_window(p, bytes);
    }
}

void replay_pause(void) {
    if (phase == DISGUISED) {
        close_windows();
    }
}

void replay_written(const char *p, size_t bytes) {
    if (phase == FIRST) {
        for (size_t i = (size_t)(p - begin), end = i + bytes; i < end; i++) {
            written[i / 8] = (unsigned char)(written[i / 8] | 1u << i % 8);
        }
    }
}

bool replay_astray(void) {
    astray = astray || phase == DISGUISED;
    return phase == DISGUISED;
}

/* ---- other memory ---------------------------------------------------------------------------- */

/* __device__ variables and pinned memory wear no disguise. What is seen to be written there is put
   back before the second run, the last store first. */

enum { SAVED = 16 };
typedef struct SavedBytes {
    char *p;
    size_t bytes;
    char old[SAVED];
} SavedBytes;

static SavedBytes *saved;
static size_t saved_count, saved_room;

void replay_elsewhere(const char *p, size_t bytes) {
    for (size_t done = 0; phase == FIRST && done < bytes; done += SAVED) {
        if (saved_count == saved_room) {
            saved_room = 2 * saved_room + 1024;
            saved = sim_realloc(saved, saved_room * sizeof *saved);
        }
        size_t n = bytes - done < SAVED ? bytes - done : SAVED;
        SavedBytes *next = &saved[saved_count++];
        *next = (SavedBytes){(char *)(uintptr_t)p + done, n, {0}};
        memcpy(next->old, p + done, n);
    }
}

static void restore_elsewhere(void) {
    for (size_t i = saved_count; i > 0; i--) {
        memcpy(saved[i - 1].p, saved[i - 1].old, saved[i - 1].bytes);
    }
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* It would say other numbers in the second run, where nothing else may differ: so that run is given
   those of the first, in their order. A kernel that asks for more of them runs once. */

enum { MOST_TIMES = 1 << 20 };
static long long *times;
static size_t times_kept, times_room, times_told;

static void keep_time(long long now) {
    if (times_kept == MOST_TIMES) {
        too_many = true;
        return;
    }
    if (times_kept == times_room) {
        times_room = 2 * times_room + 1024;
        times = sim_realloc(times, times_room * sizeof *times);
    }
    times[times_kept++] = now;
}

long long replay_clock(long long now) {
    if (phase == FIRST) {
        keep_time(now);
    }
    return phase == DISGUISED && times_told < times_kept ? times[times_told++] : now;
}

/* ---- the two runs ---------------------------------------------------------------------------- */

/* After the first run. */
static void put_disguise_on(const Allocation *a) {
    size_t at = (size_t)(a->pages - begin);
    memcpy(after + at, a->pages, a->length);
    memcpy(a->pages, before + at, a->length);
    turn(a->pages, a->length);
}

void replay_opened(Allocation *a) {
    if (phase == IDLE || a->pinned) {
        return;
    }
    if (touched_count == TOUCHED) {
        too_many = true;
        return;
    }
    touched[touched_count++] = a;
    memcpy(before + (a->pages - begin), a->pages, a->length);
    if (phase == DISGUISED) {
        put_disguise_on(a);
    }
}

void replay_begin(void) {
    if (!sim_settings.replay) {
        return;
    }
    reserve_copies();
    sim_close_memory();
    touched_count = 0;
    times_kept = times_told = 0;
    too_many = astray = false;
    findings_before = sim_findings() + held_late();
    phase = FIRST;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* False if the launch's line has been reported before. */
static bool report_launch(const Launch *launch, const char *kind, const char *what) {
    Place place = {launch->site.file, launch->site.line};
    if (!first_report(kind, site_of_place(place), 0)) {
        return false;
    }
    sim_report(kind, "%s at %s:%d %s", launch->site.name, sim_file(place), place.line, what);
    return true;
}

/* Whether the launch's stores were seen to write the byte. */
static bool was_written(const char *p) {
    size_t n = (size_t)(p - begin);
    return written[n / 8] >> n % 8 & 1;
}

/* The first byte in which the allocation is not as that copy of it, and which, with `unseen`, no
   store was seen to write; NULL if there is none. */
static const char *different_byte(const Allocation *a, const char *copy, bool unseen) {
    copy += a->pages - begin;
    for (size_t i = 0; i < a->length; i += PAGE) {
        for (size_t k = i; memcmp(a->pages + i, copy + i, PAGE) != 0 && k < i + PAGE; k++) {
            if (a->pages[k] != copy[k] && !(unseen && was_written(a->pages + k))) {
                return a->pages + k;
            }
        }
    }
    return NULL;
}

static const char *first_different(const char *copy, bool unseen) {
    const char *p = NULL;
    for (int i = 0; i < touched_count && p == NULL; i++) {
        p = different_byte(touched[i], copy, unseen);
    }
    return p;
}

/* Whether memory is not as that copy of it where no store was seen to change it. */
static bool report_writes(const Launch *launch, const char *copy) {
    const char *p = first_different(copy, true);
    if (p != NULL && report_launch(launch, "unseen write",
                                   "changes device memory, and no store of it was seen there")) {
        sim_detail_address(p);
        sim_detail("write by plain C: what assembler and a machine's builtins do is not seen");
    }
    return p != NULL;
}

static void report_reads(const Launch *launch) {
    const char *p = first_different(after, false);
    if ((p != NULL || astray) &&
        report_launch(launch, "unseen read",
                      "depends on device memory that it was not seen to read")) {
        if (p != NULL) {
            sim_detail_address(p);
        }
        sim_detail("where other memory holds other numbers, it does something else; read by plain "
                   "C, and set each local variable before it is used");
        sim_detail(
            "gcc announces no structure that a call takes straight from memory: copy it to a "
            "local variable before the call, or build with CC=clang");
        sim_detail("a function of the host's library, as rand() is, has memory of its own: no GPU "
                   "has the function (`make lint FILE=x.cu` names such calls)");
    }
}

/* ---- between the runs, and after them -------------------------------------------------------- */

void replay_give_up(void) {
    too_many = true;
}

bool replay_again(const Launch *launch) {
    if (phase != FIRST || too_many || report_writes(launch, before) ||
        sim_findings() + held_late() > findings_before) {
        return false;
    }
    phase = DISGUISED;
    window[0] = window[1] = closed;
    key += 0x9E3779B97F4A7C15u + (uintptr_t)touched;
    for (int i = 0; i < touched_count; i++) {
        put_disguise_on(touched[i]);
    }
    restore_elsewhere();
    return true;
}

static void compare_runs(const Launch *launch) {
    phase = IDLE;
    for (int i = 0; i < touched_count; i++) {
        turn(touched[i]->pages, touched[i]->length);
    }
    if (!report_writes(launch, after)) {
        report_reads(launch);
    }
    for (int i = 0; i < touched_count; i++) {
        const Allocation *a = touched[i];
        memcpy(a->pages, after + (a->pages - begin), a->length);
    }
}

void replay_end(const Launch *launch) {
    if (phase == DISGUISED) {
        close_windows();
        compare_runs(launch);
        sim_event("again %s", launch->site.name);
    }
    for (int i = 0; i < touched_count; i++) {
        memset(written + (touched[i]->pages - begin) / 8, 0, touched[i]->length / 8);
    }
    saved_count = 0;
    touched_count = 0;
    phase = IDLE;
}

void replay_stopped(void) {
    if (phase == DISGUISED) {
        phase = IDLE;
        touched_count = 0;
        report_reads(sim_worker->launch);
    }
}
