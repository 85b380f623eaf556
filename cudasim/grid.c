#include <omp.h>
#include <pthread.h>
#include <signal.h>

#include "block.h"

/* The blocks of a launch, on one core or on several, with the same bits.

   Cores take the blocks in the order of the schedule. A kernel can see this order where it uses an
   atomic on memory that blocks share: a sum of floats depends on it, a ticket, who gets a lock; and
   in what it prints and allocates. So before its first one a block waits for its turn, which comes
   when all blocks before it are over. From then on the launch is in order: one block at a time, on
   one core. Nobody needs to know beforehand which kernels have atomics.

   A block in which no thread can go on but those that look whether something has changed may wait
   for another block. It is put aside, and its turn comes again after all that are still to begin.
   So a grid waits for itself, as it can on a GPU that holds all of its blocks at once. */

enum {
    MOST_CORES = 64,
    MOST_ASIDE = 64,           /* blocks */
    THREADS_ASIDE = 28 * 1024, /* of all of them: each has a stack, and Linux counts its pages */
    WORTH_SHARING = 4096       /* threads of a launch */
};
static const size_t NONE = SIZE_MAX;

/* A core that runs blocks. */
typedef struct Core {
    pthread_t thread;
    size_t place;           /* of the first block that it has, running or put aside; else NONE */
    Worker *aside, *newest; /* those that are put aside, the first first */
} Core;

static struct {
    const Launch *launch;
    size_t blocks;
    size_t next;   /* the first that has not begun */
    bool in_order; /* the order can be seen: one block at a time */
    bool failed;   /* a block could not be finished */
    int aside;     /* blocks that are put aside */
    int cores;     /* at work; 0 between launches */
    Core core[MOST_CORES];
} grid;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER; /* a block is over or put aside */

static __thread Core *own;           /* that this thread of the CPU is, in a launch */
static __thread Worker *first_spare; /* its workers that have no block */

/* ---- whose turn is it? ----------------------------------------------------------------------- */

static size_t first_of_others(void) {
    size_t first = NONE;
    for (int i = 0; i < grid.cores; i++) {
        if (&grid.core[i] != own && grid.core[i].place < first) {
            first = grid.core[i].place;
        }
    }
    return first;
}

bool sim_is_first(const Worker *worker) {
    return worker->place < first_of_others();
}

void sim_wait_for_turn(Worker *worker) {
    pthread_mutex_lock(&lock);
    grid.in_order = true;
    while (first_of_others() < worker->place && !grid.failed) {
        pthread_cond_wait(&moved, &lock);
    }
    bool failed = grid.failed;
    pthread_mutex_unlock(&lock);
    worker->has_turn = true;
    if (failed) {
        sim_abort_block();
    }
}

/* The place of the block that this core is to run next, or NONE; whether it has its turn. A core
   that has put no block aside leaves a launch that is in order to those that run. */
static size_t take_place(bool *has_turn) {
    size_t place;
    pthread_mutex_lock(&lock);
    own->place = own->aside != NULL ? own->aside->place : NONE;
    pthread_cond_broadcast(&moved);
    for (;;) {
        bool fresh = grid.next < grid.blocks;
        place = grid.failed ? NONE : fresh ? grid.next : own->place;
        *has_turn = place < first_of_others();
        if (*has_turn || place == NONE || (fresh && !grid.in_order)) {
            break;
        }
        if (own->aside == NULL) {
            place = NONE;
            break;
        }
        pthread_cond_wait(&moved, &lock);
    }
    grid.next += place == grid.next;
    own->place = place;
    pthread_mutex_unlock(&lock);
    return place;
}

/* ---- blocks that are put aside --------------------------------------------------------------- */

/* Whether another block may do what this one waits for. */
static bool others_remain(void) {
    return grid.next < grid.blocks || own->aside != NULL || first_of_others() != NONE;
}

void sim_let_others_run(Worker *worker) {
    if (worker->launch->site.cooperative) {
        sim_leave_block(worker);
        return;
    }
    pthread_mutex_lock(&lock);
    bool room = grid.aside < MOST_ASIDE && (grid.aside + 1) * worker->threads <= THREADS_ASIDE;
    bool leave = others_remain() && room;
    grid.aside += leave;
    grid.in_order = grid.in_order || leave;
    pthread_mutex_unlock(&lock);
    if (leave) {
        sim_leave_block(worker);
    }
}

int sim_blocks_aside(void) {
    return grid.aside;
}

static void put_aside(Worker *worker) {
    worker->place += grid.blocks;
    worker->next = NULL;
    *(own->aside == NULL ? &own->aside : &own->newest->next) = worker;
    own->newest = worker;
}

static Worker *take_aside(void) {
    Worker *worker = own->aside;
    own->aside = worker->next;
    pthread_mutex_lock(&lock);
    grid.aside--;
    pthread_mutex_unlock(&lock);
    return worker;
}

/* ---- a core's share -------------------------------------------------------------------------- */

static size_t common_divisor(size_t a, size_t b) {
    while (b != 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Which block is the k-th to run. */
static size_t block_in_turn(size_t k, size_t blocks) {
    if (sim_settings.schedule == FORWARD) {
        return k;
    }
    if (sim_settings.schedule == REVERSE) {
        return blocks - 1 - k;
    }
    /* Steps that share no divisor with the number of blocks reach each of them once. */
    size_t step = 0x9E3779B1u % blocks | 1;
    while (common_divisor(step, blocks) != 1) {
        step++;
    }
    return (k * step + sim_settings.seed) % blocks;
}

static Worker *begin_block(size_t place) {
    Worker *worker = first_spare;
    if (worker != NULL) {
        first_spare = worker->next;
    } else {
        worker = sim_new_worker();
    }
    dim3 size = grid.launch->site.grid;
    size_t b = block_in_turn(place, grid.blocks);
    worker->index = (uint3){(unsigned)(b % size.x), (unsigned)(b / size.x % size.y),
                            (unsigned)(b / size.x / size.y)};
    worker->place = place;
    sim_begin_block(worker, grid.launch, sim_new_block());
    return worker;
}

static void end_block(Worker *worker) {
    sim_end_block(worker);
    worker->next = first_spare;
    first_spare = worker;
    __atomic_add_fetch(&sim_progress, 1, __ATOMIC_RELAXED);
}

static void run_block(Worker *worker) {
    sim_worker = worker;
    blockIdx = worker->index;
    sim_resume_block(worker);
    if (worker->aborted) {
        pthread_mutex_lock(&lock);
        grid.failed = true;
        pthread_mutex_unlock(&lock);
    }
    if (worker->alive > 0 && !worker->aborted) {
        put_aside(worker);
    } else {
        end_block(worker);
    }
}

static void run_share(Core *core) {
    Worker *usual = sim_get_worker();
    own = core;
    own->thread = pthread_self();
    first_spare = first_spare != NULL ? first_spare : usual;
    blockDim = grid.launch->site.block;
    gridDim = grid.launch->site.grid;
    size_t place;
    bool has_turn;
    while ((place = take_place(&has_turn)) != NONE) {
        Worker *worker = place < grid.blocks ? begin_block(place) : take_aside();
        worker->has_turn = has_turn;
        run_block(worker);
    }
    while (own->aside != NULL) {
        end_block(take_aside()); /* a block has failed */
    }
    blockDim = (dim3){0};
    sim_worker = usual;
    own = NULL;
}

/* ---- the launch ------------------------------------------------------------------------------ */

void sim_tell_cores(void) {
    for (int i = 0; i < grid.cores; i++) {
        if (&grid.core[i] != own && grid.core[i].place != NONE) {
            pthread_kill(grid.core[i].thread, SIGALRM);
        }
    }
}

/* To share a small launch costs more than it saves. */
static int cores_for(const Launch *launch) {
    dim3 block = launch->site.block;
    size_t threads = grid.blocks * block.x * block.y * block.z;
    int most = sim_settings.threads < MOST_CORES ? sim_settings.threads : MOST_CORES;
    return threads < WORTH_SHARING || grid.blocks < 2 ? 1 : most;
}

/* Once, and not to a judge, who has asked for it. */
static void note_left_out(const LaunchSite *site, size_t blocks) {
    static bool noted;
    if (!noted && sim_settings.events < 0) {
        sim_note("CUDASIM_BLOCKS=%d leaves out %zu of the %zu blocks of %s at %s:%d",
                 sim_settings.blocks, blocks - (size_t)sim_settings.blocks, blocks, site->name,
                 sim_file((Place){site->file, site->line}), site->line);
        sim_detail("their part of the result is missing, and may be of later launches too");
    }
    noted = true;
}

/* How many blocks of a launch are run. */
static size_t blocks_to_run(const LaunchSite *site) {
    size_t blocks = (size_t)site->grid.x * site->grid.y * site->grid.z;
    size_t most = (size_t)sim_settings.blocks;
    if (most == 0) {
        return blocks;
    }
    sim_event("blocks %zu %s", blocks, site->name);
    if (blocks > most) {
        note_left_out(site, blocks);
    }
    return blocks < most ? blocks : most;
}

bool sim_run_grid(const Launch *launch) {
    grid.launch = launch;
    grid.blocks = blocks_to_run(&launch->site);
    grid.next = 0;
    grid.in_order = grid.failed = false;
    int cores = cores_for(launch);
    for (int i = 0; i < cores; i++) {
        grid.core[i].place = NONE;
    }
    grid.cores = cores;
#pragma omp parallel num_threads(grid.cores) if (grid.cores > 1)
    run_share(&grid.core[omp_get_thread_num()]);
    grid.cores = 0;
    return !grid.failed;
}
