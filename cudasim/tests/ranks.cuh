/**
 * @file ranks.cuh
 * @brief For tests of ranks: a barrier, and a sum over all ranks, as transports are made of.
 * @ingroup cudasim
 */
#ifndef CUDASIM_TESTS_RANKS_CUH
#define CUDASIM_TESTS_RANKS_CUH

#include <errno.h>
#include <omp.h>
#include <string.h>
#include <sys/mman.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "cudasim_ranks.h"
#include "foreign/check.cuh"

#define _Noreturn [[noreturn]]
extern "C" {
#include "cudasim/rank.h"
}

enum { RANKS = 4, N = 32 };

static __global__ void fill(int *x, int value) {
    x[threadIdx.x] = value;
}

/* ---- a barrier, and a sum over all ranks ---------------------------------------------------- */

static struct {
    int came;
    unsigned passed;
} barrier;

struct Waiting {
    unsigned number;
};

static bool is_passed(void *context) {
    return barrier.passed > ((Waiting *)context)->number;
}

static void tell_barrier(void *, char *text, size_t size) {
    snprintf(text, size, "%d more ranks", cudasim_rank_count() - barrier.came);
}

static void wait_for_all(int line) {
    Waiting me = {barrier.passed};
    if (++barrier.came == cudasim_rank_count()) {
        barrier.came = 0;
        barrier.passed++;
    }
    RankWait wait = {"barrier", {__FILE__, line}, is_passed, &me, tell_barrier, sizeof me, 0};
    rank_wait(&wait);
}

/* One sum: each rank has submitted `part`. Work of two streams may be under way at once. */
struct Sum {
    int *part[RANKS];
    const Operation *operation[RANKS];
    int came, ranks;
    bool done;
};
static Sum sums[64];

struct Part {
    Sum *sum;
    int rank;
};

static bool sum_has_all(void *context) {
    const Sum *sum = ((Part *)context)->sum;
    return sum->came == sum->ranks;
}

static void sum_tell(void *context, char *text, size_t size) {
    const Sum *sum = ((Part *)context)->sum;
    snprintf(text, size, "%d of %d ranks", sum->ranks - sum->came, sum->ranks);
}

static void sum_tell_circle(const void *context, char *text, size_t size) {
    const Part *part = (const Part *)context;
    const Operation *own = part->sum->operation[part->rank];
    snprintf(text, size, "rank %d's sum at %s:%d waits for the others", part->rank,
             sim_file(own->place), own->place.line);
}

/* All parts must be first in their queues. */
static int sum_queue(void *context) {
    Part *part = (Part *)context;
    Sum *sum = part->sum;
    const Operation *own = sum->operation[part->rank];
    if (!sum_has_all(part) && !queue_only_asked()) {
        RankWait wait = {own->what, own->place, sum_has_all, part, sum_tell, 0, 0};
        rank_wait(&wait);
    }
    if (!sum_has_all(part)) {
        return -1;
    }
    for (int r = 0; r < sum->ranks && !sum->done; r++) {
        const Operation *other = sum->operation[r];
        int lacking = queue_lacking(other->clock, other->stream);
        if (lacking >= 0 || queue_of(other->stream)->done + 1 < other->number) {
            return lacking >= 0 ? lacking : other->stream;
        }
    }
    return own->stream;
}

static void sum_run(void *context) {
    Sum *sum = ((Part *)context)->sum;
    const Operation *before = sim_operation();
    int total = 0;
    for (int r = 0; r < sum->ranks && !sum->done; r++) {
        queue_act_for(sum->operation[r]);
        sim_touch(sum->part[r], sizeof(int), false);
        total += *sum->part[r];
    }
    for (int r = 0; r < sum->ranks && !sum->done; r++) {
        queue_act_for(sum->operation[r]);
        sim_touch(sum->part[r], sizeof(int), true);
        *sum->part[r] = total;
    }
    queue_act_for(before);
    sum->done = true;
}

/* The sum `number` of all ranks' part, in a stream. */
static void all_sum(int number, int *part, cudaStream_t stream, int line) {
    static const Needs needs = {sum_queue, sum_tell_circle};
    Part context = {&sums[number], cudasim_rank()};
    Sum *sum = context.sum;
    Work work = {};
    work.what = "sum";
    work.place = Place{__FILE__, line};
    work.run = sum_run;
    work.context = &context;
    work.needs = &needs;
    sum->ranks = cudasim_rank_count();
    sum->part[cudasim_rank()] = part;
    sum->operation[cudasim_rank()] = sim_submit_copy(stream, work, sizeof context);
    sum->came++;
}

static void run(cudasim_rank_body body, int count, void *context) {
    memset(sums, 0, sizeof sums);
    barrier = {};
    cudasim_ranks_run(count, body, context);
}

/* ---- a deep stack ---------------------------------------------------------------------------- */

static char *volatile seen; /* all of the array is there, since its address is */

__attribute__((noinline)) static int deep(int levels) {
    char here[1 << 10];
    here[sizeof here - 1] = 1;
    seen = here;
    int below = levels == 0 ? 0 : deep(levels - 1);
    seen = here;
    return below + here[sizeof here - 1];
}

#endif
