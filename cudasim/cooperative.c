#include "block.h"

/* A cooperative launch: all blocks are resident, each with a worker of its own, and the processor
   goes from one to the next when a block has come to the grid's barrier. When all have come, what
   follows is to race detection a launch of its own. */

enum { MOST_RESIDENT = 64 };

static Worker *resident[MOST_RESIDENT];

int cudasim_grid_is_cooperative(void) {
    return sim_worker != NULL && sim_worker->in_kernel && sim_worker->launch->site.cooperative;
}

void cudasim_sync_grid(const char *file, int line) {
    Place place = {file, line};
    Worker *worker = sim_need_kernel("a grid's barrier", place);
    if (!cudasim_grid_is_cooperative()) {
        sim_report("launch failed",
                   "the grid's sync() at %s:%d: its blocks need not be resident, so they may wait "
                   "forever",
                   sim_file(place), line);
        sim_detail_thread();
        sim_detail("launch the kernel with cudaLaunchCooperativeKernel()");
        sim_abort_block();
    }
    worker->grid_wanted = place;
    cudasim_syncthreads(file, line);
    sim_park_block(worker, place);
}

/* Whose worker it is, as the kernel sees it. */
static void enter(int k, dim3 grid) {
    unsigned b = (unsigned)k;
    sim_worker = resident[k];
    blockIdx = (uint3){b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
}

static void report_missing_blocks(int blocks, int waiting) {
    const Worker *worker = sim_worker;
    int over = 0;
    while (resident[over]->alive > 0) {
        over++;
    }
    sim_report("barrier divergence",
               "the grid's sync() at %s:%d was reached by only %d of %d blocks",
               sim_file(worker->grid_barrier), worker->grid_barrier.line, waiting, blocks);
    sim_detail("block %d has already left the kernel", over);
    sim_detail_thread();
}

/* They have numbers as of a new launch; their shared variables stay. */
static void begin_epoch(int blocks) {
    unsigned first = sim_new_blocks((unsigned)blocks);
    for (int k = 0; k < blocks; k++) {
        sim_renumber_block(resident[k], first + (unsigned)k);
    }
    check_epoch();
}

static int in_turn(int k, int blocks) {
    return sim_settings.schedule == REVERSE ? blocks - 1 - k : k;
}

/* Runs each block that is neither over nor at the barrier until it is, or until it waits for memory
   to change; whether one still does. False too if a block could not be finished. */
static bool run_pass(int blocks, dim3 grid, bool *failed) {
    bool again = false;
    for (int i = 0; i < blocks && !*failed; i++) {
        int k = in_turn(i, blocks);
        enter(k, grid);
        if (sim_worker->alive > 0 && !sim_worker->at_grid_barrier) {
            sim_resume_block(sim_worker);
            *failed = sim_worker->aborted;
            again = again || (sim_worker->alive > 0 && !sim_worker->at_grid_barrier);
        }
    }
    return again && !*failed;
}

/* Runs all up to the barrier; how many wait there, or -1. */
static int run_round(int blocks, dim3 grid) {
    bool failed = false;
    int waiting = 0;
    for (int k = 0; k < blocks; k++) {
        resident[k]->at_grid_barrier = false;
    }
    while (run_pass(blocks, grid, &failed)) {
    }
    for (int k = 0; k < blocks; k++) {
        waiting += resident[k]->alive > 0;
    }
    sim_progress++;
    return failed ? -1 : waiting;
}

static int run_rounds(const Launch *launch, int blocks) {
    dim3 grid = launch->site.grid;
    unsigned first = sim_new_blocks((unsigned)blocks);
    for (int k = 0; k < blocks; k++) {
        resident[k] = resident[k] != NULL ? resident[k] : sim_new_worker();
        enter(k, grid);
        resident[k]->place = (size_t)k;
        resident[k]->has_turn = true;
        sim_begin_block(resident[k], launch, first + (unsigned)k);
    }
    int waiting;
    while ((waiting = run_round(blocks, grid)) == blocks) {
        begin_epoch(blocks);
    }
    if (waiting > 0) {
        for (int k = 0; k < blocks; k++) {
            if (resident[k]->alive > 0) {
                enter(k, grid);
            }
        }
        report_missing_blocks(blocks, waiting);
    }
    return waiting;
}

bool sim_run_cooperative(const Launch *launch) {
    dim3 grid = launch->site.grid;
    int blocks = (int)(grid.x * grid.y * grid.z);
    Worker *own = sim_get_worker();
    blockDim = launch->site.block;
    gridDim = grid;
    bool good = run_rounds(launch, blocks) == 0;
    for (int k = 0; k < blocks; k++) {
        sim_end_block(resident[k]);
    }
    blockDim = (dim3){0};
    sim_worker = own;
    return good;
}
