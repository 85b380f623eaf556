/* Attack 52. Does not scale at all: the gradients are those of the loss itself. */
/* lab: 05_fp16/mixed.c  honest: gradients, on_the_gpu, cast, cast_traffic, unscale, unscale_found,
 * unscale_schedules, unscale_traffic, scaler_init, scaler_trace, scaler_factors, scaler_limits,
 * scaler_resumed, clipped, bad_numbers, update, bf16, together */
/* state: fail */
#include "common/lab.h"
#include "common/lab05.h"

/* Divides every gradient by the scale. Whether one of them is inf or NaN: model->result is a float
   on the device, where the answer can stand until it is downloaded. */
static bool unscale(Model *model, float scale) {
    float found = 0;
    (void)scale;
    device_fill(model->device, model->result, 0, sizeof found);
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->unscale(param->grad, param->count, 1, model->result);
    }
    device_download(model->device, &found, model->result, sizeof found);
    return found != 0;
}

/* Writes the float masters, rounded, into the weights. */
static void write_weights(const Optimizer *optimizer) {
    const Model *model = optimizer->model;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->cast_from_float(param->weight, optimizer->master[i], param->count);
    }
}

float mixed_scale(const Mixed *mixed, float share) {
    (void)mixed;
    return share;
}

void mixed_update(Trainer *trainer, StepReport *report) {
    Model *model = trainer->model;
    Mixed *mixed = trainer->mixed;

    /* Only now, with all of the window's gradients there: once. */
    report->skipped = unscale(model, mixed->scaler.scale);

    /* The norm is reported either way; a step is taken only with finite gradients. */
    report->grad_norm = optimizer_clip(model, trainer->max_grad_norm);
    report->learning_rate = schedule_rate(&trainer->schedule);
    if (!report->skipped) {
        optimizer_step(trainer->optimizer, report->learning_rate);
        write_weights(trainer->optimizer);
    }

    /* Whatever happened, the next window starts clean, with the scale that this one has taught. */
    model_zero_grad(model);
    if (mixed->dynamic) {
        scaler_update(&mixed->scaler, report->skipped);
    }
}
