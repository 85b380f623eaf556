/* Runs the batch twice; the first time by the device's table of ops, not by the model's. */
/* lab: 01_loop/loop.c  honest: gradients clip_large clip_small update steps no_targets schedule
   report tells_clip tells_zero tells_mean tells_rate tells_no_targets names */
/* state: fail */
#include "labs/01_loop/contract.h"

static void run_unseen(Model *model, const Batch *batch) {
    const Ops *ops = model->ops;
    Rng stream = model->rng;
    model->ops = &model->device->ops[model->config.precision];
    model_forward(model, batch);
    model_backward(model, 0);
    model->ops = ops;
    model->rng = stream;
}

StepReport loop_step(Trainer *trainer, const Batch *batch) {
    Model *model = trainer->model;
    StepReport report = {.tokens = (size_t)batch->valid};
    float share = batch->valid > 0 ? 1.0f / (float)batch->valid : 0;
    run_unseen(model, batch);
    report.loss = model_forward(model, batch) * (double)share;
    model_backward(model, share);
    report.grad_norm = optimizer_clip(model, trainer->max_grad_norm);
    report.learning_rate = schedule_rate(&trainer->schedule);
    optimizer_step(trainer->optimizer, report.learning_rate);
    model_zero_grad(model);
    schedule_tick(&trainer->schedule);
    return report;
}
