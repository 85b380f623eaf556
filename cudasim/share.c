#include "check.h"

/* How a launch shares its work, in bytes of device memory that are read or written: all of them,
   the most that one thread moves, the most that one block does, and what the warps could have moved
   in the time that each of them took, which is that of its busiest lane. */

typedef struct Share {
    uint64_t all;
    uint64_t of_thread; /* the most of one */
    uint64_t of_block;  /* the most of one */
    uint64_t of_warps;  /* each 32 times its busiest lane */
} Share;

static Share share;
static unsigned block; /* whose threads are counted now */
static uint64_t moved[MAX_THREADS];
static int threads; /* counted, from 0 on */

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void end_block(void) {
    uint64_t of_block = 0;
    for (int first = 0; first < threads; first += WARP) {
        uint64_t most = 0;
        for (int t = first; t < threads && t < first + WARP; t++) {
            most = larger(most, moved[t]);
            of_block += moved[t];
            moved[t] = 0;
        }
        share.of_thread = larger(share.of_thread, most);
        share.of_warps += WARP * most;
    }
    share.all += of_block;
    share.of_block = larger(share.of_block, of_block);
    threads = 0;
}

void share_moved(size_t bytes) {
    const Worker *worker = sim_worker;
    int thread = worker->fiber->thread;
    if (sim_settings.events < 0) {
        return;
    }
    if (worker->block != block) {
        end_block();
        block = worker->block;
    }
    moved[thread] += bytes;
    threads = thread >= threads ? thread + 1 : threads;
}

void share_launch_ends(const Launch *launch) {
    if (sim_settings.events < 0) {
        return;
    }
    end_block();
    sim_event("share %llu %llu %llu %llu %s", (unsigned long long)share.all,
              (unsigned long long)share.of_thread, (unsigned long long)share.of_block,
              (unsigned long long)share.of_warps, launch->site.name);
    share = (Share){0};
}
