/* The changes that labs 04, 05, 07, 08, 10 and 12 make to a training step. The contract is in
   techniques.h; the
   three places are those of Trainer, in common/trainer.h. */
#include "train/techniques.h"

#include "labs/04_checkpoint/contract.h"
#include "labs/05_fp16/contract.h"
#include "labs/07_optimizers/contract.h"
#include "labs/08_prefetch/contract.h"
#include "labs/10_lora/contract.h"
#include "labs/12_zero/contract.h"

void mixed_init(Mixed *mixed, Precision precision) {
    scaler_init(&mixed->scaler);
    mixed->dynamic = precision == F16;
    if (!mixed->dynamic) {
        mixed->scaler.scale = 1;
    }
}

OptimizerRule techniques_rule(Optim optim) {
    static Codebooks codebooks; /* the same for every optimizer that borrows them */
    if (optim == OPTIM_ADAMW_8BIT) {
        codebook_signed(codebooks.m);
        codebook_unsigned(codebooks.v);
    }
    return rule_of(optim, &codebooks);
}

void adapters_attach(Model *model) {
    if (model->config.adapter.rank > 0 && model->linear_forward == NULL) {
        model->linear_forward = lora_forward;
        model->linear_backward = lora_backward;
        model->dropped = lora_dropped(&model->config);
    }
}

static bool checkpointed(const Model *model) {
    return model->checkpoint.segment > 0 || model->checkpoint.attention_only;
}

static double forward(Trainer *trainer, const Batch *batch) {
    Model *model = trainer->model;
    adapters_attach(model);
    if (trainer->offload != NULL) {
        return offload_forward(trainer->offload, model, batch);
    }
    return checkpointed(model) ? checkpoint_forward(model, batch) : model_forward(model, batch);
}

static void backward(Trainer *trainer, float share) {
    Model *model = trainer->model;
    float dloss = trainer->mixed != NULL ? mixed_scale(trainer->mixed, share) : share;
    if (trainer->offload != NULL) {
        offload_backward(trainer->offload, model, dloss);
    } else if (checkpointed(model)) {
        checkpoint_backward(model, dloss);
    } else {
        model_backward(model, dloss);
    }
}

void techniques_set(Trainer *trainer) {
    trainer->forward = forward;
    trainer->backward = backward;
    trainer->update = trainer->zero != NULL    ? zero_update
                      : trainer->mixed != NULL ? mixed_update
                                               : NULL;
}
