/* Lab 05: the end of a window in mixed precision. The contract is in labs/05_fp16/contract.h. */
#include "common/lab.h"
#include "labs/05_fp16/contract.h"

/* Divides every gradient by the scale. Whether one of them is inf or NaN: model->result is a float
   on the device, where the answer can stand until it is downloaded. */
static bool unscale(Model *model, float scale) {
    (void)model, (void)scale;
    TODO("task 4: unscale every gradient, and say whether one was not finite (about 8 lines)");
}

/* Writes the float masters, rounded, into the weights. */
static void write_weights(const Optimizer *optimizer) {
    (void)optimizer;
    TODO("task 5: weights from their masters (about 5 lines)");
}

float mixed_scale(const Mixed *mixed, float share) {
    (void)mixed, (void)share;
    TODO("task 4: what backward is given (1 line)");
}

void mixed_update(Trainer *trainer, StepReport *report) {
    Model *model = trainer->model;
    Mixed *mixed = trainer->mixed;

    /* Only now, with all of the window's gradients there: once. */
    report->skipped = unscale(model, mixed->scaler.scale);

    /* The norm is reported either way; a step is taken only with finite gradients. */
    (void)write_weights;
    TODO("task 5: skip, or clip, step, and write the weights (about 6 lines)");

    /* Whatever happened, the next window starts clean, with the scale that this one has taught. */
    TODO("task 5: gradients back to zero, and the scaler (about 4 lines)");
}
