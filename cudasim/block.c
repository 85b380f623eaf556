#define _GNU_SOURCE
#include <sys/mman.h>

#include "block.h"

/* One block. Its CUDA threads are run by fibers, lazily: a fiber runs thread after thread in a
   plain loop, until one of them has to wait. Then the fiber is parked with that thread on it, and
   another goes on with the next. A kernel without barriers is therefore a loop without a switch. */

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;
__thread int cudasim_lane;

enum {
    ARENA = 256 << 10, /* bytes of shared memory, static and dynamic each */
    MANY_LOOKS = 100
};

Worker *sim_need_kernel(const char *what, Place place) {
    Worker *worker = sim_worker;
    if (worker == NULL || !worker->in_kernel) {
        sim_report("unsupported", "%s at %s:%d in host code: only a kernel can do that", what,
                   sim_file(place), place.line);
        sim_stop();
    }
    return worker;
}

/* ---- fibers ---------------------------------------------------------------------------------- */

static void fiber_main(void);

/* Stacks below each other with a closed page between. */
static char *new_stacks(void) {
    char *stacks = sim_map((size_t)(MAX_THREADS + 1) * STACK_BYTES);
    for (int i = 0; i <= MAX_THREADS; i++) {
        mprotect(stacks + (size_t)i * STACK_BYTES, PAGE, PROT_NONE);
    }
    return stacks;
}

static Fiber *take_fiber(Worker *worker) {
    Fiber *fiber = worker->spare;
    if (fiber != NULL) {
        worker->spare = fiber->next;
        return fiber;
    }
    if (worker->pool == NULL) {
        worker->pool = sim_map((MAX_THREADS + 1) * sizeof *worker->pool);
        worker->stacks = new_stacks();
    }
    int n = worker->fibers++;
    fiber = &worker->pool[n];
    fiber->stack = worker->stacks + (size_t)n * STACK_BYTES;
    /* Equal stack tops would fall into the same cache sets: shift each by a few lines. */
    size_t shift = (size_t)(n % 61) * 192;
    fiber->stack_pointer =
        sim_stack_make(fiber->stack + PAGE, fiber->stack + STACK_BYTES - shift, fiber_main);
    return fiber;
}

static void go_to(Worker *worker, Fiber *from, Fiber *to) {
    worker->fiber = to;
    sim_stack_switch(&from->stack_pointer, to->stack_pointer);
}

static void become(Worker *worker, int thread) {
    worker->looks = 0;
    threadIdx = worker->thread[thread].index;
    cudasim_lane = thread % WARP;
}

void sim_wake(Worker *worker, int thread) {
    worker->thread[thread].state = READY;
    worker->ready[worker->ready_end++ % (2 * MAX_THREADS)] = (uint16_t)thread;
}

static int next_ready(Worker *worker) {
    int thread = worker->ready[worker->ready_first++ % (2 * MAX_THREADS)];
    worker->thread[thread].state = RUNNING;
    return thread;
}

static void resolve_stuck(Worker *worker);

/* Those that may go on come first, so that a warp gets through its shuffles before the next begins,
   and few stacks are in use at once. */
void sim_suspend(Worker *worker) {
    Fiber *self = worker->fiber;
    for (;;) {
        if (worker->ready_first != worker->ready_end) {
            int thread = next_ready(worker);
            if (worker->thread[thread].fiber != self) {
                go_to(worker, self, worker->thread[thread].fiber);
            }
            break;
        }
        if (worker->begun < worker->threads) {
            go_to(worker, self, take_fiber(worker));
            break;
        }
        resolve_stuck(worker);
    }
    become(worker, self->thread);
}

void sim_idle(void) {
    Worker *worker = sim_worker;
    if (worker != NULL && worker->in_kernel && ++worker->looks >= MANY_LOOKS) {
        check_pause();
        worker->thread[worker->fiber->thread].state = LOOKING;
        sim_suspend(worker);
    }
}

void cudasim_changed_nothing(void) {
    sim_idle();
}

static void run_threads(Worker *worker, Fiber *self) {
    while (worker->ready_first == worker->ready_end && worker->begun < worker->threads) {
        int t = worker->order[worker->begun++];
        self->thread = t;
        worker->thread[t].fiber = self;
        worker->thread[t].state = RUNNING;
        become(worker, t);
        worker->launch->thread(worker->launch->arguments);
        check_pause();
        worker->thread[t].state = GONE;
        worker->alive--;
        sim_leave_warp(worker, t);
    }
}

static void fiber_main(void) {
    Worker *worker = sim_worker;
    Fiber *self = worker->fiber;
    for (;;) {
        run_threads(worker, self);
        if (worker->ready_first == worker->ready_end && worker->alive > 0) {
            resolve_stuck(worker);
            continue;
        }
        self->next = worker->spare;
        worker->spare = self;
        bool over = worker->ready_first == worker->ready_end;
        go_to(worker, self, over ? &worker->home : worker->thread[next_ready(worker)].fiber);
    }
}

void sim_abort_block(void) {
    Worker *worker = sim_worker;
    worker->aborted = true;
    go_to(worker, worker->fiber, &worker->home);
    __builtin_unreachable();
}

/* ---- barriers -------------------------------------------------------------------------------- */

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

static unsigned next_random(Worker *worker) {
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 17;
    worker->random ^= worker->random << 5;
    return worker->random;
}

static void shuffle(Worker *worker, uint16_t *items, int n) {
    for (int i = n - 1; i > 0; i--) {
        int k = (int)(next_random(worker) % (unsigned)(i + 1));
        uint16_t item = items[i];
        items[i] = items[k];
        items[k] = item;
    }
}

static void open_barrier(Worker *worker) {
    uint16_t waiting[MAX_THREADS];
    int n = 0;
    for (int i = 0; i < worker->threads; i++) {
        if (worker->thread[worker->order[i]].state == BARRED) {
            waiting[n++] = worker->order[i];
        }
    }
    if (sim_settings.schedule == RANDOM) {
        shuffle(worker, waiting, n);
    }
    worker->barred = 0;
    worker->barriers++;
    worker->result = worker->reduced;
    for (int i = 0; i < n; i++) {
        sim_wake(worker, waiting[i]);
    }
}

static int first_in_state(const Worker *worker, ThreadState state) {
    for (int t = 0; t < worker->threads; t++) {
        if (worker->thread[t].state == state) {
            return t;
        }
    }
    return -1;
}

static void report_missing_threads(Worker *worker) {
    char waits[40], left[40];
    int waiting = first_in_state(worker, BARRED), gone = first_in_state(worker, GONE);
    check_diverged();
    sim_report("barrier divergence",
               "__syncthreads() at %s:%d was reached by only %d of %d threads",
               sim_file(worker->barrier), worker->barrier.line, worker->barred, worker->threads);
    sim_detail("thread %s waits there, but thread %s has already left the kernel",
               sim_thread_name(worker, waiting, waits), sim_thread_name(worker, gone, left));
    sim_detail_waiting(worker, waiting);
    sim_detail("all threads of a block must reach the same __syncthreads(): take it out of the if, "
               "or do not return early");
}

/* When all others wait, those that wait for a flag look at it again. */
static bool wake_idle(Worker *worker) {
    bool any = false;
    for (int i = 0; i < worker->threads; i++) {
        int t = worker->order[i];
        if (worker->thread[t].state == LOOKING) {
            sim_wake(worker, t);
            any = true;
        }
    }
    return any;
}

/* Nobody can go on. A warp's operation that lacks a lane never completes; a barrier that lacks
   threads is reported and opened, since that is what many GPUs do. */
static void resolve_stuck(Worker *worker) {
    if (sim_answer_gathering(worker) || wake_idle(worker)) {
        return;
    }
    int meeting = first_in_state(worker, MEETING);
    if (meeting >= 0) {
        sim_report_stuck_meeting(worker, meeting);
    }
    report_missing_threads(worker);
    open_barrier(worker);
}

static void report_two_barriers(Worker *worker, Place here) {
    char first[40], second[40];
    int waiting = first_in_state(worker, BARRED);
    check_diverged();
    sim_report("barrier divergence", "threads of one block wait at two places: %s:%d and %s:%d",
               sim_file(here), here.line, sim_file(worker->barrier), worker->barrier.line);
    sim_detail("thread %s at line %d, thread %s at line %d",
               sim_thread_name(worker, worker->fiber->thread, first), here.line,
               sim_thread_name(worker, waiting, second), worker->barrier.line);
    sim_detail_thread();
    sim_abort_block();
}

static void arrive(Worker *worker, Place place) {
    int thread = worker->fiber->thread;
    if (worker->barred == 0) {
        worker->barrier = place;
    } else if (place.line != worker->barrier.line ||
               strcmp(place.file, worker->barrier.file) != 0) {
        report_two_barriers(worker, place);
    }
    check_pause();
    worker->thread[thread].state = BARRED;
    worker->thread[thread].waits = place;
    if (++worker->barred == worker->threads) {
        open_barrier(worker);
    }
    sim_suspend(worker);
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

void cudasim_trap(const char *file, int line) {
    Place place = {file, line};
    sim_need_kernel("__trap()", place);
    sim_report("launch failed", "__trap() at %s:%d", sim_file(place), line);
    sim_detail_thread();
    sim_stop();
}

/* ---- the block ------------------------------------------------------------------------------- */

/* Two arenas, each between closed pages. Dynamic shared memory ends against the last one. */
Worker *sim_new_worker(void) {
    Worker *worker = sim_map(sizeof *worker);
    char *memory = sim_map(2 * ARENA + 3 * PAGE);
    mprotect(memory, PAGE, PROT_NONE);
    mprotect(memory + PAGE + ARENA, PAGE, PROT_NONE);
    mprotect(memory + 2 * PAGE + 2 * ARENA, PAGE, PROT_NONE);
    worker->shared = memory + PAGE;
    worker->dynamic = worker->dynamic_end = memory + 2 * PAGE + 2 * ARENA;
    worker->random = sim_settings.seed * 2654435761u + 12345u;
    return worker;
}

Worker *sim_get_worker(void) {
    if (sim_worker == NULL) {
        sim_worker = sim_new_worker();
        sim_signal_stack();
    }
    return sim_worker;
}

static void shape_threads(Worker *worker, dim3 shape) {
    if (worker->shape.x == shape.x && worker->shape.y == shape.y && worker->shape.z == shape.z) {
        return;
    }
    worker->shape = (uint3){shape.x, shape.y, shape.z};
    for (int t = 0; t < worker->threads; t++) {
        unsigned u = (unsigned)t;
        worker->thread[t].index =
            (uint3){u % shape.x, u / shape.x % shape.y, u / (shape.x * shape.y)};
    }
}

static void order_threads(Worker *worker) {
    int n = worker->threads;
    if (worker->order_threads == n && sim_settings.schedule != RANDOM) {
        return;
    }
    for (int i = 0; i < n; i++) {
        worker->order[i] = (uint16_t)(sim_settings.schedule == REVERSE ? n - 1 - i : i);
    }
    if (sim_settings.schedule == RANDOM) {
        shuffle(worker, worker->order, n);
    }
    worker->order_threads = n;
}

static void reset(Worker *worker) {
    worker->aborted = worker->no_dynamic_reported = false;
    worker->begun = worker->barred = 0;
    worker->barriers = worker->parked = 0;
    worker->ready_first = worker->ready_end = 0;
    worker->shared_used = worker->shared_bytes = 0;
    worker->dynamic_name.name = NULL;
    for (int t = 0; t < worker->threads; t++) {
        worker->thread[t].state = FRESH;
    }
    for (int warp = 0; warp * WARP < worker->threads; warp++) {
        worker->gone[warp] = 0;
        worker->meetings[warp] = 0;
        if (worker->met[warp] > 0) {
            memset(worker->meeting[warp], 0,
                   (size_t)worker->met[warp] * sizeof worker->meeting[warp][0]);
            worker->met[warp] = 0;
        }
    }
}

/* The stacks of a block that could not be finished hold threads that will never return. */
static void drop_fibers(Worker *worker) {
    worker->spare = NULL;
    worker->fibers = 0;
}

void sim_begin_block(Worker *worker, const Launch *launch, unsigned number) {
    dim3 shape = launch->site.block;
    worker->launch = launch;
    worker->block = number;
    worker->threads = worker->alive = (int)(shape.x * shape.y * shape.z);
    shape_threads(worker, shape);
    order_threads(worker);
    reset(worker);
    sim_begin_dynamic_shared(worker);
    worker->fiber = NULL;
}

void sim_resume_block(Worker *worker) {
    worker->in_kernel = true;
    go_to(worker, &worker->home, worker->parked != 0 ? worker->fiber : take_fiber(worker));
    worker->in_kernel = false;
}

void sim_end_block(Worker *worker) {
    if (worker->aborted || worker->alive > 0) {
        drop_fibers(worker);
    }
}

void sim_run_block(Worker *worker, const Launch *launch, dim3 index, unsigned number) {
    blockIdx = (uint3){index.x, index.y, index.z};
    sim_begin_block(worker, launch, number);
    sim_resume_block(worker);
    sim_end_block(worker);
}

/* ---- a block that waits for its grid --------------------------------------------------------- */

void sim_park_block(Worker *worker, Place place) {
    if (worker->parked == worker->barriers) {
        return; /* another thread has done it */
    }
    Fiber *self = worker->fiber;
    worker->parked = worker->barriers;
    worker->grid_barrier = place;
    sim_stack_switch(&self->stack_pointer, worker->home.stack_pointer);
    become(worker, self->thread);
}

void sim_renumber_block(Worker *worker, unsigned number) {
    for (int id = 1; id < SHARED_VARIABLES && worker->variable[id] != NULL; id++) {
        if (worker->variable_block[id] == worker->block) {
            worker->variable_block[id] = number;
        }
    }
    worker->block = number;
}
