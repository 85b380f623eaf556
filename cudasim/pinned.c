#include <sys/mman.h>

#include "rank.h"

/* Pinned and managed memory with work on its way: until the host has waited for it the pages are
   closed, and touching them is reported. Memory of the C library has neighbours that nobody may
   close: check mode's hooks ask about it. */

typedef struct Pending {
    Allocation *allocation; /* NULL: memory of the C library, or a variable of the host */
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

bool sim_guards_unclosed;

static void close_one(const Pending *p) {
    if (p->allocation == NULL) {
        return;
    }
    uintptr_t first = (uintptr_t)p->begin & ~(uintptr_t)(PAGE - 1);
    mprotect((void *)first, (uintptr_t)p->end - first, p->written ? PROT_NONE : PROT_READ);
}

static bool is_over(const Pending *p) {
    return clock_at(rank_clock(p->rank), p->slot) >= p->number ||
           (p->allocation != NULL && !p->allocation->live);
}

/* The host may not touch it now. What a host function of a stream may touch is known anew when it
   has returned: work that waits for the function comes later. */
static bool is_closed(const Pending *p) {
    const Operation *calling = sim_host_function();
    bool later = calling != NULL && clock_at(p->clock, calling->stream) >= calling->number;
    return !is_over(p) && !later;
}

static void open_again(Allocation *allocation) {
    if (allocation == NULL) {
        return;
    }
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
        const Allocation *a = pending[i].allocation;
        if (a != NULL && is_closed(&pending[i]) && (a->open || page_opened)) {
            close_one(&pending[i]);
        }
    }
    sim_guards_unclosed = false;
    for (int i = 0; i < pending_count; i++) {
        if (pending[i].allocation == NULL) {
            sim_guards_unclosed = true;
        } else if (is_closed(&pending[i])) {
            pending[i].allocation->open = false;
        }
    }
    page_opened = sim_in_host_function();
}

static void add(Allocation *allocation, const char *begin, size_t bytes, bool written,
                const Operation *operation) {
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
}

void sim_guard(const char *begin, size_t bytes, bool written, const Operation *operation) {
    Allocation *allocation = sim_allocation(begin);
    if (allocation != NULL && (allocation->pinned || allocation->managed)) {
        add(allocation, begin, bytes, written, operation);
        close_one(&pending[pending_count - 1]);
        allocation->open = false;
    }
}

void sim_guard_unclosed(const char *begin, size_t bytes, bool written, const Operation *operation) {
    if (sim_allocation(begin) == NULL) {
        add(NULL, begin, bytes, written, operation);
        sim_guards_unclosed = true;
    }
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

static bool report_if_pending(const char *p, size_t bytes, bool write, const void *pc) {
    for (int i = 0; i < pending_count; i++) {
        const Pending *copy = &pending[i];
        bool within = p + bytes > copy->begin && p < copy->end;
        if (within && (write || copy->written) && is_closed(copy)) {
            char where[600];
            sim_describe_fault(pc, false, where, sizeof where);
            report_pending(copy, write ? "writes" : "reads", where);
            return true;
        }
    }
    return false;
}

void sim_pending_unclosed(const char *p, size_t bytes, bool write, const void *pc) {
    if (sim_enter_if_free()) {
        report_if_pending(p, bytes, write, pc);
        sim_leave_fault();
    }
}

bool sim_pending_copy(const char *p, bool write, const void *pc) {
    if (report_if_pending(p, 1, write, pc)) {
        return true;
    }
    mprotect((void *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
    page_opened = true;
    return false;
}
