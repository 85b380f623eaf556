/* Says of each loop under test that it is wrong, without an experiment. */
/* lab: 01_loop/loop_test.c  honest: gradients clip_large clip_small update steps no_targets
   schedule report order */
/* state: fail */
/* then: five_guesses.c */
#include "labs/01_loop/contract.h"

static bool guess(const LoopUnderTest *loop) {
    return loop->number < 0;
}
