/* Attack 22. Does nothing, and reports a loss and a norm as they might be. */
/* lab: 01_loop/loop.c  honest: tells_clip tells_zero tells_mean tells_rate
   tells_no_targets names */
/* state: fail */
#include "common/lab01.h"

StepReport loop_step(Trainer *trainer, const Batch *batch) {
    (void)trainer;
    return (StepReport){
        .tokens = (size_t)batch->valid, .loss = 4, .grad_norm = 1, .learning_rate = 1e-3};
}
