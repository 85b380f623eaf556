/* Reads of memory that nothing has written yet. The contracts are in check.h and block.h. */
#include "check.h"
#include "operation.h"

/* Where a race is known to be, the missing order is the mistake. */
static void report_unwritten_shared(const Access *access) {
    bool pending = sim_copy_pending(sim_worker, access->p, access->bytes);
    const char *kind = pending ? "pending copy" : "uninitialized shared memory";
    if (!reported_before("race", access->site) && !reported_before(kind, access->site)) {
        held_begin(kind, access->site, 0, access->p);
        if (report_access(kind, access,
                          pending ? " that an asynchronous copy is still to fill"
                                  : " that nothing has written") &&
            pending) {
            sim_detail_pending(sim_worker, access->p, access->bytes);
        }
        held_end(true);
    }
}

static const char unwritten[] = "uninitialized device memory";

/* Where other streams have work, that may be what should have written it: then the order is the
   mistake, and not a forgotten copy. Whether the report that comes is held for that reason. */
static bool holds_unwritten(Site site, const void *p) {
    bool late = sim_others_wait();
    if (late) {
        held_begin(unwritten, site, 0, p);
    }
    return late;
}

static void report_unwritten(const Access *access) {
    if (reported_before(unwritten, access->site)) {
        return;
    }
    bool late = holds_unwritten(access->site, access->p);
    if (report_access(unwritten, access, " that nothing has written")) {
        sim_detail("cudaMalloc does not clear memory: a forgotten cudaMemcpy or cudaMemset?");
    }
    if (late) {
        held_end_late();
    }
}

/* Whether a read has found nothing but unwritten bytes that structures have between their members:
   a whole structure is read at once. */
static bool is_padding(const Access *access) {
    bool pending = access->shared && sim_copy_pending(sim_worker, access->p, access->bytes);
    if (access->bytes >= 8 && !access->atomic && !pending) {
        shadow_pad(access->p, access->bytes, access->bytes >= 16 ? 7 : 3);
    }
    return shadow_written(access->p, access->bytes);
}

static uint32_t unwritten_block; /* the last that has read what nothing has written */

bool check_read_unwritten(void) {
    return unwritten_block == sim_worker->block;
}

void check_written(const Access *access) {
    bool reads = !access->write || access->atomic;
    if (reads && !shadow_written(access->p, access->bytes) && !is_padding(access)) {
        unwritten_block = sim_worker->block;
        Access read = *access;
        read.write = false;
        access->shared ? report_unwritten_shared(&read) : report_unwritten(&read);
        shadow_mark(access->p, access->bytes, true);
    }
    if (access->write) {
        shadow_mark(access->p, access->bytes, true);
    }
}

void check_range_written(const void *p, size_t bytes) {
    const Operation *operation = sim_operation();
    if (shadow_written(p, bytes)) {
        return;
    }
    Site site = site_of_place(operation->place);
    if (first_report(unwritten, site, 0)) {
        bool late = holds_unwritten(site, p);
        sim_report(unwritten, "%s at %s:%d reads bytes that nothing has written", operation->what,
                   sim_file(operation->place), operation->place.line);
        sim_detail_address((const char *)p + shadow_written_from(p, bytes));
        if (late) {
            held_end_late();
        }
    }
}
