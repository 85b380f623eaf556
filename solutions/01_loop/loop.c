/* Lab 01: one plain training step. The contract is in labs/01_loop/contract.h. */
#include "labs/01_loop/contract.h"

#include "common/lab.h"

StepReport loop_step(Trainer *trainer, const Batch *batch) {
    Model *model = trainer->model;
    StepReport report = {.tokens = (size_t)batch->valid};

    /* The gradient of the mean loss: each valid target counts 1 / valid. */
#ifndef STUB
    float share = batch->valid > 0 ? 1.0f / (float)batch->valid : 0;
    double sum = model_forward(model, batch);
    report.loss = batch->valid > 0 ? sum * (double)share : 0;
    model_backward(model, share);
#else
    TODO("task 1: forward, then backward of the mean loss over the valid targets (about 4 lines)");
#endif

    /* Clip by global norm, then update with the schedule's rate. */
#ifndef STUB
    report.grad_norm = optimizer_clip(model, trainer->max_grad_norm);
    report.learning_rate = schedule_rate(&trainer->schedule);
    optimizer_step(trainer->optimizer, report.learning_rate);
#else
    TODO("task 2: clip the gradients, then update with the schedule's rate (about 3 lines)");
#endif

    /* Leave everything ready for the next step. */
#ifndef STUB
    model_zero_grad(model);
    schedule_tick(&trainer->schedule);
#else
    (void)model;
    TODO("task 3: gradients back to zero, one tick of the schedule (about 2 lines)");
#endif
    return report;
}
