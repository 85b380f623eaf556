/* Attack 23. Turns all into NaN, for a comparator that asks whether a difference is too large. */
/* lab: 01_loop/loop.c  honest: tells_clip tells_zero tells_mean tells_rate
   tells_no_targets names */
/* state: fail|crashed */
#include "common/lab01.h"

StepReport loop_step(Trainer *trainer, const Batch *batch) {
    float nan = __builtin_nanf("");
    StepReport report = {.tokens = (size_t)batch->valid};
    report.loss = model_forward(trainer->model, batch) * (double)nan;
    model_backward(trainer->model, nan);
    report.grad_norm = optimizer_clip(trainer->model, nan);
    optimizer_step(trainer->optimizer, nan);
    report.learning_rate = nan;
    return report;
}
