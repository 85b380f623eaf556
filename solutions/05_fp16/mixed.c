/* Lab 05: the end of a window in mixed precision. The contract is in labs/05_fp16/contract.h. */
#include "common/lab.h"
#include "labs/05_fp16/contract.h"

/* Divides every gradient by the scale. Whether one of them is inf or NaN: model->result is a float
   on the device, where the answer can stand until it is downloaded. */
static bool unscale(Model *model, float scale) {
#ifndef STUB
    float found = 0;
    device_fill(model->device, model->result, 0, sizeof found);
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->unscale(param->grad, param->count, 1 / scale, model->result);
    }
    device_download(model->device, &found, model->result, sizeof found);
    return found != 0;
#else
    (void)model, (void)scale;
    TODO("task 4: unscale every gradient, and say whether one was not finite (about 8 lines)");
#endif
}

/* Writes the float masters, rounded, into the weights. */
static void write_weights(const Optimizer *optimizer) {
#ifndef STUB
    const Model *model = optimizer->model;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->cast_from_float(param->weight, optimizer->master[i], param->count);
    }
#else
    (void)optimizer;
    TODO("task 5: weights from their masters (about 5 lines)");
#endif
}

float mixed_scale(const Mixed *mixed, float share) {
#ifndef STUB
    return share * mixed->scaler.scale;
#else
    (void)mixed, (void)share;
    TODO("task 4: what backward is given (1 line)");
#endif
}

void mixed_update(Trainer *trainer, StepReport *report) {
    Model *model = trainer->model;
    Mixed *mixed = trainer->mixed;

    /* Only now, with all of the window's gradients there: once. */
    report->skipped = unscale(model, mixed->scaler.scale);

    /* The norm is reported either way; a step is taken only with finite gradients. */
#ifndef STUB
    report->grad_norm = optimizer_clip(model, trainer->max_grad_norm);
    report->learning_rate = schedule_rate(&trainer->schedule);
    if (!report->skipped) {
        optimizer_step(trainer->optimizer, report->learning_rate);
        write_weights(trainer->optimizer);
    }
#else
    (void)write_weights;
    TODO("task 5: skip, or clip, step, and write the weights (about 6 lines)");
#endif

    /* Whatever happened, the next window starts clean, with the scale that this one has taught. */
#ifndef STUB
    model_zero_grad(model);
    if (mixed->dynamic) {
        scaler_update(&mixed->scaler, report->skipped);
    }
#else
    TODO("task 5: gradients back to zero, and the scaler (about 4 lines)");
#endif
}
