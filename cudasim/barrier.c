#include "block.h"

/* __syncthreads(): a count of those who have come. The last one wakes all. When no thread can go on
   and the count is short, a thread will never come. */

const char *sim_thread_name(const Worker *worker, int thread, char text[40]) {
    uint3 index = worker->thread[thread].index;
    snprintf(text, 40, "(%u,%u,%u)", index.x, index.y, index.z);
    return text;
}

void sim_detail_waiting(Worker *worker, int thread) {
    uint3 index = threadIdx;
    threadIdx = worker->thread[thread].index;
    sim_detail_thread();
    threadIdx = index;
}

/* All threads in a state go on; whether there are any. */
static bool wake_all(Worker *worker, ThreadState state) {
    unsigned end = worker->ready_end;
    int threads = worker->threads;
    for (int i = 0; i < threads; i++) {
        int t = worker->order[i];
        end = worker->state[t] == state ? sim_wake(worker, t, end) : end;
    }
    bool any = end != worker->ready_end;
    worker->ready_end = end;
    return any;
}

static void open_barrier(Worker *worker) {
    if (sim_settings.schedule == RANDOM) {
        sim_shuffle(worker, worker->order, worker->threads);
    }
    worker->barred = 0;
    worker->barriers++;
    worker->result = worker->reduced;
    wake_all(worker, BARRED);
}

static int first_in_state(const Worker *worker, ThreadState state) {
    for (int t = 0; t < worker->threads; t++) {
        if (worker->state[t] == state) {
            return t;
        }
    }
    return -1;
}

static void report_missing_threads(Worker *worker) {
    char waits[40], left[40];
    int waiting = first_in_state(worker, BARRED), gone = first_in_state(worker, GONE);
    bool of_grid = sim_same_place(worker->barrier, worker->grid_wanted);
    sim_report("barrier divergence",
               of_grid ? "the grid's sync() at %s:%d was reached by only %d of a block's %d threads"
                       : "__syncthreads() at %s:%d was reached by only %d of %d threads",
               sim_file(worker->barrier), worker->barrier.line, worker->barred, worker->threads);
    sim_detail("thread %s waits there, but thread %s has already left the kernel",
               sim_thread_name(worker, waiting, waits), sim_thread_name(worker, gone, left));
    sim_detail_waiting(worker, waiting);
    sim_detail(of_grid ? "all threads of a block must reach the same sync(): take it out of the "
                         "if, or do not return early"
                       : "all threads of a block must reach the same __syncthreads(): take it out "
                         "of the if, or do not return early");
    check_diverged();
    sim_detail("GPUs since Volta wait only for threads that have not left, which CUDASIM_EXITED=1 "
               "does, too");
}

/* Whether a thread has come to a barrier or to its end since this was asked last. */
static bool has_moved(Worker *worker) {
    bool moved = worker->alive != worker->alive_before ||
                 worker->barriers != worker->barriers_before ||
                 worker->barred != worker->barred_before;
    worker->alive_before = worker->alive;
    worker->barriers_before = worker->barriers;
    worker->barred_before = worker->barred;
    return moved;
}

/* When all others wait, those that wait for a flag look at it again; after other blocks, where no
   thread has moved since they looked last. */
static bool wake_idle(Worker *worker) {
    if (first_in_state(worker, LOOKING) >= 0 && !has_moved(worker)) {
        sim_let_others_run(worker);
    }
    return wake_all(worker, LOOKING);
}

/* Nobody can go on. A warp's operation that lacks a lane never completes; a barrier that lacks
   threads, which have left the kernel, is reported and opened, since that is what many GPUs do. */
void sim_resolve_stuck(Worker *worker) {
    if (sim_answer_gathering(worker) || wake_idle(worker)) {
        return;
    }
    int meeting = first_in_state(worker, MEETING);
    if (meeting >= 0) {
        sim_report_stuck_meeting(worker, meeting);
    }
    if (!sim_settings.exited) {
        report_missing_threads(worker);
    }
    open_barrier(worker);
}

static void report_two_barriers(Worker *worker, Place here) {
    char first[40], second[40];
    int waiting = first_in_state(worker, BARRED);
    sim_report("barrier divergence", "threads of one block wait at two places: %s:%d and %s:%d",
               sim_file(here), here.line, sim_file(worker->barrier), worker->barrier.line);
    sim_detail("thread %s at line %d, thread %s at line %d",
               sim_thread_name(worker, worker->fiber->thread, first), here.line,
               sim_thread_name(worker, waiting, second), worker->barrier.line);
    sim_detail_thread();
    check_diverged();
    sim_abort_block();
}

/* The first of a barrier, the last, and in check mode all. */
static __attribute__((noinline)) void *arrive_carefully(Worker *worker, Place place) {
    if (worker->barred == 0) {
        worker->barrier = place;
    } else if (!sim_same_place(place, worker->barrier)) {
        report_two_barriers(worker, place);
    }
    sim_pause();
    worker->state[worker->fiber->thread] = BARRED;
    if (++worker->barred == worker->threads) {
        open_barrier(worker);
    }
    return sim_suspend_or_begin(worker, NULL);
}

/* The others, as quick as it gets: see sim_suspend(). */
static inline void *arrive(Worker *worker, Place place) {
    int barred = worker->barred + 1;
    bool usual = worker->barrier.file == place.file && worker->barrier.line == place.line;
    if (barred == 1 || barred == worker->threads || !usual || sim_checking) {
        return arrive_carefully(worker, place);
    }
    worker->barred = barred;
    worker->state[worker->fiber->thread] = BARRED;
    return sim_suspend(worker, NULL);
}

void cudasim_syncthreads(const char *file, int line) {
    Place place = {file, line};
    arrive(sim_need_kernel("__syncthreads()", place), place);
}

int cudasim_syncthreads_reduce(int operation, int predicate, const char *file, int line) {
    enum { COUNT, AND, OR };
    Place place = {file, line};
    Worker *worker = sim_need_kernel("__syncthreads_count()", place);
    int yes = predicate != 0;
    int before = worker->barred > 0 ? worker->reduced : operation == AND;
    worker->reduced = operation == COUNT ? before + yes
                      : operation == AND ? before && yes
                                         : before || yes;
    arrive(worker, place);
    return worker->result;
}
