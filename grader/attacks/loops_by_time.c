/* Tells loops under test apart by how long they take. */
/* lab: 01_loop/loop_test.c  honest: gradients clip_large clip_small update steps no_targets
   schedule report order */
/* state: fail */
/* then: five_guesses.c */
#include "labs/01_loop/contract.h"

/* An experiment, so that nobody can say that there was none. */
static LoopReply look(const LoopUnderTest *loop, int steps) {
    LoopExperiment experiment = {.steps = steps, .schedule = {.max_steps = 9}};
    for (int i = 0; i < steps; i++) {
        experiment.batch[i].B = experiment.batch[i].T = 1;
    }
    return loop_try(loop, &experiment);
}

static unsigned long long ticks(void) {
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#else
    unsigned long long count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#endif
}

/* Whether it is among the slower ones. */
static bool guess(const LoopUnderTest *loop) {
    static unsigned long long sum;
    static int count;
    unsigned long long best = ~0ull;
    for (int i = 0; i < 2; i++) {
        unsigned long long begin = ticks();
        look(loop, 1);
        unsigned long long taken = ticks() - begin;
        best = taken < best ? taken : best;
    }
    sum += best;
    count++;
    return best * (unsigned long long)count > sum;
}
