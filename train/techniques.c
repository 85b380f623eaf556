/* The changes that labs 04 and 05 make to a training step. The contract is in techniques.h; the
   three places are those of Trainer, in common/trainer.h. */
#include "train/techniques.h"

#include "labs/04_checkpoint/contract.h"
#include "labs/05_fp16/contract.h"

void mixed_init(Mixed *mixed, Precision precision) {
    scaler_init(&mixed->scaler);
    mixed->dynamic = precision == F16;
    if (!mixed->dynamic) {
        mixed->scaler.scale = 1;
    }
}

static bool checkpointed(const Model *model) {
    return model->checkpoint.segment > 0 || model->checkpoint.attention_only;
}

static double forward(Trainer *trainer, const Batch *batch) {
    Model *model = trainer->model;
    return checkpointed(model) ? checkpoint_forward(model, batch) : model_forward(model, batch);
}

static void backward(Trainer *trainer, float share) {
    Model *model = trainer->model;
    float dloss = trainer->mixed != NULL ? mixed_scale(trainer->mixed, share) : share;
    if (checkpointed(model)) {
        checkpoint_backward(model, dloss);
    } else {
        model_backward(model, dloss);
    }
}

void techniques_set(Trainer *trainer) {
    trainer->forward = forward;
    trainer->backward = backward;
    trainer->update = trainer->mixed != NULL ? mixed_update : NULL;
}
