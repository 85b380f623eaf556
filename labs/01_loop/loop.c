/* Lab 01: one plain training step. The contract is in labs/01_loop/contract.h. */
#include "labs/01_loop/contract.h"

#include "common/lab.h"

StepReport loop_step(Trainer *trainer, const Batch *batch) {
    Model *model = trainer->model;
    StepReport report = {.tokens = (size_t)batch->valid};

    /* The gradient of the mean loss: each valid target counts 1 / valid. */
    TODO("task 1: forward, then backward of the mean loss over the valid targets (about 4 lines)");

    /* Clip by global norm, then update with the schedule's rate. */
    TODO("task 2: clip the gradients, then update with the schedule's rate (about 3 lines)");

    /* Leave everything ready for the next step. */
    (void)model;
    TODO("task 3: gradients back to zero, one tick of the schedule (about 2 lines)");
    return report;
}
