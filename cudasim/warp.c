#include "block.h"

/* Operations of a warp are meetings: the lanes that a mask names come, each with a value; when all
   are there, each may look at the others' values and leaves. Lanes with different masks meet at
   different places, so the halves of a diverged warp do not disturb each other. */

static const char *const names[] = {
    "__syncwarp",    "__shfl_sync",   "__shfl_xor_sync", "__shfl_down_sync", "__shfl_up_sync",
    "__ballot_sync", "__reduce_sync", "__match_sync",    "load_matrix_sync", "store_matrix_sync",
    "mma_sync",      "mma.sync",      "ldmatrix"};

const char *sim_operation_name(int operation) {
    return names[operation];
}

static bool complete(const Worker *worker, int warp, const Meeting *meeting) {
    return meeting->mask != 0 && meeting->inside < 0 &&
           (meeting->mask & ~meeting->arrived & ~worker->gone[warp]) == 0;
}

/* Wakes all lanes but the one that runs. */
static void hold(Worker *worker, int warp, Meeting *meeting) {
    meeting->inside = __builtin_popcount(meeting->arrived);
    worker->meetings[warp]++;
    unsigned end = worker->ready_end;
    for (unsigned left = meeting->arrived; left != 0;) {
        bool reverse = sim_settings.schedule == REVERSE;
        int lane = reverse ? WARP - 1 - __builtin_clz(left) : __builtin_ctz(left);
        int thread = warp * WARP + lane;
        left &= ~(1u << lane);
        if (worker->state[thread] == MEETING && worker->thread[thread].meeting == meeting) {
            end = sim_wake(worker, thread, end);
        }
    }
    worker->ready_end = end;
}

void sim_leave_warp(Worker *worker, int thread) {
    int warp = thread / WARP;
    worker->gone[warp] |= 1u << thread % WARP;
    for (int i = 0; i < worker->met[warp]; i++) {
        if (complete(worker, warp, &worker->meeting[warp][i])) {
            hold(worker, warp, &worker->meeting[warp][i]);
        }
    }
}

/* The place where lanes with this mask wait for the others; else NULL. */
static inline Meeting *find_meeting(Worker *worker, int warp, unsigned mask) {
    for (int i = 0; i < worker->met[warp]; i++) {
        Meeting *meeting = &worker->meeting[warp][i];
        if (meeting->mask == mask && meeting->inside < 0) {
            return meeting;
        }
    }
    return NULL;
}

static __attribute__((noinline)) Meeting *new_meeting(Worker *worker, int warp, unsigned mask,
                                                      int operation, Place place) {
    Meeting *vacant = NULL;
    for (int i = 0; i < worker->met[warp] && vacant == NULL; i++) {
        vacant = worker->meeting[warp][i].mask == 0 ? &worker->meeting[warp][i] : NULL;
    }
    if (vacant == NULL && worker->met[warp] < MEETINGS) {
        vacant = &worker->meeting[warp][worker->met[warp]++];
    }
    if (vacant == NULL) {
        sim_report("unsupported", "a warp is in more than %d operations at once, at %s:%d",
                   MEETINGS, sim_file(place), place.line);
        sim_detail_thread();
        sim_abort_block();
    }
    vacant->mask = mask;
    vacant->arrived = 0;
    vacant->operation = operation;
    vacant->inside = -1;
    vacant->file = place.file;
    vacant->line = place.line;
    return vacant;
}

static Place place_of(const Meeting *meeting) {
    return (Place){meeting->file, meeting->line};
}

static _Noreturn void refuse_mask(unsigned mask, int lane, int operation, Place place) {
    sim_report("undefined shuffle",
               "%s at %s:%d is called by lane %d, which its mask 0x%08x "
               "does not name",
               names[operation], sim_file(place), place.line, lane, mask);
    sim_detail_thread();
    sim_abort_block();
}

static _Noreturn void refuse_operation(const Meeting *meeting, int operation, Place place) {
    sim_report("undefined shuffle",
               "lanes of one warp are in different operations: %s at %s:%d "
               "and %s at %s:%d",
               names[operation], sim_file(place), place.line, names[meeting->operation],
               sim_file(place_of(meeting)), meeting->line);
    sim_detail_thread();
    sim_abort_block();
}

Meeting *cudasim_meet(int operation, unsigned mask, unsigned long long value, const char *file,
                      int line) {
    Place place = {file, line};
    Worker *worker = sim_need_kernel(names[operation], place);
    int thread = worker->fiber->thread, lane = cudasim_lane, warp = (int)((unsigned)thread / WARP);
    int lanes = worker->threads - warp * WARP;
    if (!(mask >> lane & 1)) {
        refuse_mask(mask, lane, operation, place);
    }
    /* A last warp may be short; the full mask is what everybody writes. */
    mask &= lanes < WARP ? (1u << lanes) - 1 : 0xffffffffu;
    Meeting *meeting = find_meeting(worker, warp, mask);
    if (meeting == NULL) {
        meeting = new_meeting(worker, warp, mask, operation, place);
    } else if (meeting->operation != operation) {
        refuse_operation(meeting, operation, place);
    }
    sim_pause();
    meeting->arrived |= 1u << lane;
    meeting->value[lane] = value;
    if (complete(worker, warp, meeting)) {
        hold(worker, warp, meeting);
        return meeting;
    }
    worker->state[thread] = MEETING;
    worker->thread[thread].meeting = meeting;
    worker->thread[thread].waits = place;
    return sim_suspend(worker, meeting);
}

void cudasim_undefined_lane(const Meeting *meeting, int lane, const char *file, int line) {
    Place place = {file, line};
    sim_report("undefined shuffle", "%s at %s:%d reads lane %d, which is not taking part",
               names[meeting->operation], sim_file(place), line, lane);
    sim_detail("lanes taking part: mask 0x%08x", meeting->arrived);
    sim_detail_thread();
}

void cudasim_undefined_width(int operation, int width, const char *file, int line) {
    Place place = {file, line};
    sim_report("undefined shuffle", "%s at %s:%d has a width of %d, which is undefined",
               names[operation], sim_file(place), line, width);
    sim_detail("the width of a group of lanes is 1, 2, 4, 8, 16 or 32");
    sim_detail_thread();
    sim_abort_block();
}

void cudasim_undefined_rank(unsigned rank, unsigned threads, const char *file, int line) {
    Place place = {file, line};
    sim_report("undefined shuffle", "shfl() at %s:%d reads rank %u of a group of %u threads",
               sim_file(place), line, rank, threads);
    sim_detail("the ranks of a group begin at 0");
    sim_detail_thread();
}

/* ---- __activemask() -------------------------------------------------------------------------- */

/* Which lanes are together depends on a GPU's mood. Here it is all that can come: a lane waits
   until no thread of the block can go on, and then those of its warp that wait at the same place
   are the active ones. */
unsigned cudasim_active_lanes(const char *file, int line) {
    Place place = {file, line};
    Worker *worker = sim_need_kernel("__activemask()", place);
    int self = worker->fiber->thread;
    Thread *thread = &worker->thread[self];
    sim_pause();
    worker->state[self] = GATHERING;
    thread->waits = place;
    sim_suspend(worker, NULL);
    return thread->active;
}

static bool gathers_with(const Worker *worker, int thread, int other) {
    return worker->state[other] == GATHERING &&
           sim_same_place(worker->thread[other].waits, worker->thread[thread].waits);
}

bool sim_answer_gathering(Worker *worker) {
    int first = 0;
    while (first < worker->threads && worker->state[first] != GATHERING) {
        first++;
    }
    if (first == worker->threads) {
        return false;
    }
    unsigned mask = 0;
    int warp = first / WARP * WARP;
    unsigned end = worker->ready_end;
    for (int lane = 0; lane < WARP && warp + lane < worker->threads; lane++) {
        if (gathers_with(worker, first, warp + lane)) {
            mask |= 1u << lane;
        }
    }
    for (int i = 0; i < WARP; i++) {
        int lane = sim_settings.schedule == REVERSE ? WARP - 1 - i : i;
        if (mask >> lane & 1) {
            worker->thread[warp + lane].active = mask;
            end = sim_wake(worker, warp + lane, end);
        }
    }
    worker->ready_end = end;
    return true;
}

static const char *whereabouts(ThreadState state) {
    return state == BARRED    ? "waits in __syncthreads()"
           : state == MEETING ? "waits in another operation of the warp"
                              : "has left the kernel";
}

void sim_report_stuck_meeting(Worker *worker, int waiting) {
    const Meeting *meeting = worker->thread[waiting].meeting;
    unsigned missing = meeting->mask & ~meeting->arrived;
    int lane = __builtin_ctz(missing), absent = waiting / WARP * WARP + lane;
    ThreadState state = worker->state[absent];
    char waits[40], name[40];
    sim_report("undefined shuffle", "%s(0x%08x) at %s:%d never completes: lanes 0x%08x do not come",
               names[meeting->operation], meeting->mask, sim_file(place_of(meeting)), meeting->line,
               missing);
    sim_detail("thread %s waits there; thread %s (lane %d) %s",
               sim_thread_name(worker, waiting, waits), sim_thread_name(worker, absent, name), lane,
               whereabouts(state));
    if (state != GONE) {
        Place there = state == BARRED ? worker->barrier : worker->thread[absent].waits;
        sim_detail("at %s:%d", sim_file(there), there.line);
    }
    sim_detail_waiting(worker, waiting);
    sim_abort_block();
}
