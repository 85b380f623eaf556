/* Lab 01: one plain training step. The contract is in common/lab01.h. */
#include "common/lab01.h"

#include "common/lab.h"

StepReport loop_step(Trainer *trainer, const Batch *batch) {
#ifdef SOLUTION
    Model *model = trainer->model;
    StepReport report = {.tokens = (size_t)batch->valid};
    float share = batch->valid > 0 ? 1.0f / (float)batch->valid : 0;
    report.loss = model_forward(model, batch) * (double)share;
    model_backward(model, share);
    report.grad_norm = optimizer_clip(model, trainer->max_grad_norm);
    report.learning_rate = schedule_rate(&trainer->schedule);
    optimizer_step(trainer->optimizer, report.learning_rate);
    model_zero_grad(model);
    schedule_tick(&trainer->schedule);
    return report;
#else
    (void)trainer, (void)batch;
    TODO("task 1: forward and backward of the mean loss (about 3 lines)");
    TODO("task 2: clip, then update with the schedule's rate (about 3 lines)");
    TODO("task 3: leave the gradients zero, tick the schedule, fill the report (about 3 lines)");
#endif
}
