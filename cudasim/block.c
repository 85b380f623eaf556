#define _GNU_SOURCE
#include <sys/mman.h>

#include "block.h"
#include "operation.h"

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

void sim_refuse_on_host(const char *what, Place place) {
    sim_report("unsupported", "%s at %s:%d in host code: only a kernel can do that", what,
               sim_file(place), place.line);
    sim_stop();
}

/* ---- fibers ---------------------------------------------------------------------------------- */

static void fiber_main(void);

static Fiber *take_fiber(Worker *worker) {
    Fiber *fiber = worker->spare;
    if (fiber != NULL) {
        worker->spare = fiber->next;
        return fiber;
    }
    if (worker->pool == NULL) {
        worker->pool = sim_map((MAX_THREADS + 1) * sizeof *worker->pool);
        worker->stacks = sim_map((size_t)(MAX_THREADS + 1) * STACK_BYTES);
    }
    int n = worker->fibers++;
    fiber = &worker->pool[n];
    fiber->stack = worker->stacks + (size_t)n * STACK_BYTES;
    mprotect(fiber->stack, PAGE, PROT_NONE); /* the stacks lie below each other */
    /* Equal stack tops would fall into the same cache sets: shift each by a few lines. */
    size_t shift = (size_t)(n % 61) * 192;
    fiber->stack_pointer =
        sim_stack_make(fiber->stack + PAGE, fiber->stack + STACK_BYTES - shift, fiber_main);
    return fiber;
}

/* The fiber's thread has the processor. */
static inline void become(Worker *worker, Fiber *self) {
    worker->fiber = self;
    threadIdx = self->index;
    cudasim_lane = self->lane;
}

/* The last thing that a function does: then the switch returns at once to who has called that. */
static inline void *go_to(Worker *worker, Fiber *from, Fiber *to, void *result) {
    become(worker, to);
    return sim_stack_switch(&from->stack_pointer, to->stack_pointer, result);
}

/* Stacks of a large block do not fit into the nearest cache, so the stack of one who comes later is
   fetched now; if there is none later, an older one. */
static inline Fiber *next_ready(Worker *worker) {
    unsigned first = worker->ready_first++;
    const char *later = worker->ready[(first + 3) % READY_ROOM]->stack_pointer;
    for (int line = 0; line < 3; line++) {
        __builtin_prefetch(later + 64 * line);
    }
    return worker->ready[first % READY_ROOM];
}

/* Those that may go on come first, so that a warp gets through its shuffles before the next begins,
   and few stacks are in use at once. */
__attribute__((noinline)) void *sim_suspend_or_begin(Worker *worker, void *result) {
    Fiber *self = worker->fiber;
    while (worker->ready_first == worker->ready_end && worker->begun == worker->threads) {
        sim_resolve_stuck(worker);
    }
    bool ready = worker->ready_first != worker->ready_end;
    Fiber *next = ready ? next_ready(worker) : take_fiber(worker);
    if (next == self) {
        worker->turn++; /* it is its turn still */
        return result;
    }
    return go_to(worker, self, next, result);
}

/* The usual case stands alone: so it needs no registers of its caller. */
void *sim_suspend(Worker *worker, void *result) {
    if (worker->ready_first == worker->ready_end) {
        return sim_suspend_or_begin(worker, result);
    }
    return go_to(worker, worker->fiber, next_ready(worker), result);
}

void sim_look_later(void) {
    Worker *worker = sim_worker;
    sim_pause();
    worker->state[worker->fiber->thread] = LOOKING;
    sim_suspend_or_begin(worker, NULL);
}

/* Whose turn it is changes too often to begin the count anew then. */
void sim_idle(void) {
    Worker *worker = sim_worker;
    if (worker == NULL || !worker->in_kernel) {
        return;
    }
    unsigned turn = worker->ready_first + (unsigned)worker->begun;
    worker->looks = worker->turn == turn ? worker->looks + 1 : 1;
    worker->turn = turn;
    if (worker->looks >= MANY_LOOKS) {
        sim_look_later();
    }
}

void cudasim_changed_nothing(void) {
    sim_idle();
}

static void run_threads(Worker *worker, Fiber *self) {
    while (worker->ready_first == worker->ready_end && worker->begun < worker->threads) {
        int t = worker->order[worker->begun++];
        self->thread = t;
        self->index = worker->thread[t].index;
        worker->state[t] = READY;
        worker->fiber_of[t] = self;
        self->lane = t % WARP;
        become(worker, self);
        worker->launch->thread(worker->launch->arguments);
        sim_pause();
        worker->state[t] = GONE;
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
            sim_resolve_stuck(worker);
            continue;
        }
        self->next = worker->spare;
        worker->spare = self;
        bool over = worker->ready_first == worker->ready_end;
        go_to(worker, self, over ? &worker->home : next_ready(worker), NULL);
    }
}

void sim_abort_block(void) {
    Worker *worker = sim_worker;
    worker->aborted = true;
    go_to(worker, worker->fiber, &worker->home, NULL);
    __builtin_unreachable();
}

void cudasim_trap(const char *file, int line) {
    Place place = {file, line};
    sim_need_kernel("__trap()", place);
    sim_report("launch failed", "__trap() at %s:%d", sim_file(place), line);
    sim_detail_thread();
    sim_stop();
}

void cudasim_beyond_bounds(unsigned most) {
    const LaunchSite *site = &sim_worker->launch->site;
    sim_report("launch failed",
               "%s at %s:%d: the block has %u threads, its __launch_bounds__ allow %u", site->name,
               sim_file((Place){site->file, site->line}), site->line,
               site->block.x * site->block.y * site->block.z, most);
    sim_detail("a GPU does not run it, which is silent until you call cudaGetLastError()");
    sim_stop();
}

void cudasim_called_plainly(const char *kernel, const void *caller) {
    char where[600];
    sim_describe_fault(caller, false, where, sizeof where);
    sim_report("launch failed", "the kernel %s is called as a function at %s", kernel, where);
    sim_detail("launch it: %s<<<grid, block>>>(...); nvcc does not compile this call", kernel);
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
    for (int i = 0; i < READY_ROOM; i++) {
        worker->ready[i] = &worker->home;
    }
    return worker;
}

Worker *sim_get_worker(void) {
    if (sim_worker == NULL) {
        sim_worker = sim_take_worker();
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

static unsigned next_random(Worker *worker) {
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 17;
    worker->random ^= worker->random << 5;
    return worker->random;
}

void sim_shuffle(Worker *worker, uint16_t *items, int n) {
    for (int i = n - 1; i > 0; i--) {
        int k = (int)(next_random(worker) % (unsigned)(i + 1));
        uint16_t item = items[i];
        items[i] = items[k];
        items[k] = item;
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
        sim_shuffle(worker, worker->order, n);
    }
    worker->order_threads = n;
}

/* Shared memory of the block before is nobody's. */
static void forget_shared(Worker *worker) {
    check_fresh(worker->shared, worker->shared_used);
    check_fresh(worker->dynamic, (size_t)(worker->dynamic_end - worker->dynamic));
}

static void reset(Worker *worker) {
    forget_shared(worker);
    worker->aborted = worker->at_grid_barrier = false;
    worker->begun = worker->barred = 0;
    worker->barriers = worker->parked = 0;
    worker->alive_before = 0;
    worker->ready_first = worker->ready_end = 0;
    worker->shared_used = worker->shared_bytes = 0;
    worker->dynamic_name.name = NULL;
    sim_drop_copies(worker);
    memset(worker->state, FRESH, (size_t)worker->threads);
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

/* The random schedule is of the block, not of the core that runs it. */
static unsigned random_start(size_t place) {
    uint64_t x = (uint64_t)place << 32 ^ sim_operation()->serial << 8 ^ sim_settings.seed;
    x = (x + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    return (unsigned)(x >> 32) | 1;
}

void sim_begin_block(Worker *worker, const Launch *launch, unsigned number) {
    dim3 shape = launch->site.block;
    worker->launch = launch;
    worker->block = number;
    worker->random = random_start(worker->place);
    worker->threads = worker->alive = (int)(shape.x * shape.y * shape.z);
    shape_threads(worker, shape);
    order_threads(worker);
    reset(worker);
    sim_begin_dynamic_shared(worker);
    worker->fiber = NULL;
}

void sim_resume_block(Worker *worker) {
    worker->in_kernel = true;
    worker->looks = 0;
    go_to(worker, &worker->home, worker->fiber != NULL ? worker->fiber : take_fiber(worker), NULL);
    worker->in_kernel = false;
}

void sim_end_block(Worker *worker) {
    if (worker->aborted || worker->alive > 0) {
        drop_fibers(worker);
    }
}

/* ---- a block that waits for others ----------------------------------------------------------- */

void sim_leave_block(Worker *worker) {
    sim_stack_switch(&worker->fiber->stack_pointer, worker->home.stack_pointer, NULL);
}

void sim_park_block(Worker *worker, Place place) {
    if (worker->parked == worker->barriers) {
        return; /* another thread has done it */
    }
    worker->parked = worker->barriers;
    worker->grid_barrier = place;
    worker->at_grid_barrier = true;
    sim_leave_block(worker);
}

void sim_renumber_block(Worker *worker, unsigned number) {
    for (int id = 1; id <= worker->variable_top; id++) {
        if (worker->variable_block[id] == worker->block) {
            worker->variable_block[id] = number;
        }
    }
    worker->block = number;
}
