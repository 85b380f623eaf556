#include <sys/mman.h>

#include "rank.h"

/* Pinned and managed memory with work on its way: until the host has waited for it the pages are
   closed, and touching them is reported. */

typedef struct Pending {
    Allocation *allocation;
    const char *begin, *end;
    bool written; /* by the operation: the host may not even read */
    const char *what;
    int rank; /* whose host may not touch it */
    int slot;
    uint64_t number;
    Clock *clock; /* of the operation, owned */
    Place place;
} Pending;

static Pending *pending;
static int pending_count, pending_room;
static bool page_opened; /* since the host has touched what lies beside */

static void close_one(const Pending *p) {
    uintptr_t first = (uintptr_t)p->begin & ~(uintptr_t)(PAGE - 1);
    mprotect((void *)first, (uintptr_t)p->end - first, p->written ? PROT_NONE : PROT_READ);
}

static bool is_over(const Pending *p) {
    return clock_at(rank_clock(p->rank), p->slot) >= p->number || !p->allocation->live;
}

/* The host may not touch it now. What a host function of a stream may touch is known anew when it
   has returned: work that waits for the function comes later. */
static bool is_closed(const Pending *p) {
    const Operation *calling = sim_host_function();
    bool later = calling != NULL && clock_at(p->clock, calling->stream) >= calling->number;
    return !is_over(p) && !later;
}

static void open_again(Allocation *allocation) {
    allocation->open = allocation->live;
    if (allocation->live) {
        mprotect(allocation->pages, allocation->length, PROT_READ | PROT_WRITE);
    }
}

/* Opens memory of operations that are over, as a whole; closes again the part of it that others
   still need. */
void sim_guard_pending(void) {
    int kept = 0;
    for (int i = 0; i < pending_count; i++) {
        const Pending *p = &pending[i];
        if (!is_closed(p)) {
            open_again(p->allocation);
        }
        if (is_over(p) && !sim_in_host_function()) {
            free(p->clock);
        } else {
            pending[kept++] = *p;
        }
    }
    pending_count = kept;
    for (int i = 0; i < pending_count; i++) {
        if (is_closed(&pending[i]) && (pending[i].allocation->open || page_opened)) {
            close_one(&pending[i]);
        }
    }
    for (int i = 0; i < pending_count; i++) {
        if (is_closed(&pending[i])) {
            pending[i].allocation->open = false;
        }
    }
    page_opened = sim_in_host_function();
}

void sim_guard(const char *begin, size_t bytes, bool written, const Operation *operation) {
    Allocation *allocation = sim_allocation(begin);
    if (allocation == NULL || !(allocation->pinned || allocation->managed)) {
        return;
    }
    if (pending_count == pending_room) {
        pending_room = 2 * pending_room + 16;
        pending = sim_realloc(pending, (size_t)pending_room * sizeof *pending);
    }
    pending[pending_count++] = (Pending){.allocation = allocation,
                                         .begin = begin,
                                         .end = begin + bytes,
                                         .written = written,
                                         .what = operation->what,
                                         .rank = operation->rank,
                                         .slot = operation->stream,
                                         .number = operation->number,
                                         .clock = clock_keep(NULL, operation->clock),
                                         .place = operation->place};
    close_one(&pending[pending_count - 1]);
    allocation->open = false;
}

static void report_pending(const Pending *work, const char *verb, const char *where) {
    bool is_copy = strncmp(work->what, "cudaMem", strlen("cudaMem")) == 0;
    if (is_copy) {
        sim_report("pending copy",
                   "host code at %s %s memory of a copy that may still be on its way", where, verb);
        sim_detail("the copy was begun at %s:%d", sim_file(work->place), work->place.line);
    } else {
        sim_report("pending kernel", "host code at %s %s memory that kernel %s may still use",
                   where, verb, work->what);
        sim_detail("the kernel was launched at %s:%d", sim_file(work->place), work->place.line);
    }
    sim_detail("wait with cudaStreamSynchronize or cudaEventSynchronize first");
}

bool sim_pending_copy(const char *p, bool write, const void *pc) {
    for (int i = 0; i < pending_count; i++) {
        const Pending *copy = &pending[i];
        bool within = p >= copy->begin && p < copy->end;
        if (within && (write || copy->written) && is_closed(copy)) {
            char where[600];
            cudasim_describe_code(pc, where, sizeof where);
            report_pending(copy, write ? "writes" : "reads", where);
            return true;
        }
    }
    mprotect((void *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
    page_opened = true;
    return false;
}
