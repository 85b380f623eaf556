/* Asks for loops under test that there are not. */
/* lab: 01_loop/loop_test.c  honest: gradients clip_large clip_small update steps no_targets
   schedule report order */
/* state: fail|crashed */
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

static bool guess(const LoopUnderTest *loop) {
    LoopUnderTest other = {.number = loop->number + 1000000};
    return look(&other, 1).step[0].updates == 1;
}
