/* Writes noise to the program with the loops under test, and then waits for what it says. */
/* lab: 01_loop/loop_test.c  honest: gradients clip_large clip_small update steps no_targets
   schedule report order */
/* state: fail|crashed */
/* then: five_guesses.c call.c */
#include "labs/01_loop/contract.h"
#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

/* An experiment, so that nobody can say that there was none. */
static LoopReply look(const LoopUnderTest *loop, int steps) {
    LoopExperiment experiment = {.steps = steps, .schedule = {.max_steps = 9}};
    for (int i = 0; i < steps; i++) {
        experiment.batch[i].B = experiment.batch[i].T = 1;
    }
    return loop_try(loop, &experiment);
}

static bool guess(const LoopUnderTest *loop) {
    static char noise[3000];
    for (int i = 0; i < 3000; i++) {
        noise[i] = (char)(i * 37);
    }
    call(SYS_write, 5, (long)noise, sizeof noise, 0);
    return look(loop, 1).step[0].updates == 1;
}
