/* Attack 1. Crashes in the middle of a step, after a first part that was right. */
/* lab: 01_loop/loop.c  honest: tells_clip tells_zero tells_mean tells_rate
   tells_no_targets names */
/* state: crashed */
#include "common/lab01.h"

StepReport loop_step(Trainer *trainer, const Batch *batch) {
    model_forward(trainer->model, batch);
    __builtin_trap();
    return (StepReport){.tokens = (size_t)batch->valid};
}
