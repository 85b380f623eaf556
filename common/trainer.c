/* A training step with its three pointers, and the memory of one step, measured. The contract is in
   trainer.h. */
#include "common/trainer.h"

#include <stdlib.h>

double trainer_forward(Trainer *trainer, const Batch *batch) {
    return trainer->forward != NULL ? trainer->forward(trainer, batch)
                                    : model_forward(trainer->model, batch);
}

void trainer_backward(Trainer *trainer, float share) {
    if (trainer->backward != NULL) {
        trainer->backward(trainer, share);
    } else {
        model_backward(trainer->model, share);
    }
}

void trainer_measure(const ModelConfig *config, Checkpoint checkpoint, int B, int T, Device *device,
                     MemoryUse *peak) {
    trainer_measure_as(NULL, config, checkpoint, B, T, device, peak);
}

void trainer_measure_as(const Trainer *way, const ModelConfig *config, Checkpoint checkpoint, int B,
                        int T, Device *device, MemoryUse *peak) {
    bool plain = way == NULL || way->forward == NULL;
    CHECK(!plain || (checkpoint.segment == 0 && !checkpoint.attention_only),
          "a plain forward with segments of %d", checkpoint.segment);
    size_t N = (size_t)B * (size_t)T;
    int32_t *ids = calloc(N, sizeof *ids);
    CHECK(ids != NULL, "no host memory for %zu tokens", N);
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids, .valid = (int)N};

    Memory *memory = memory_new(device, (MemoryOptions){.checked = memory_checked_by_default()});
    Model *model = model_new_zero(config, memory);
    Trainer trainer = way != NULL ? *way : (Trainer){0};
    if (trainer.model != NULL) {
        model->head_forward = trainer.model->head_forward;
        model->head_backward = trainer.model->head_backward;
        model->fused_norm = trainer.model->fused_norm;
    }
    AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f};
    Optimizer *optimizer = optimizer_new_as(model, adamw, trainer.rule);
    trainer.model = model;
    trainer.optimizer = optimizer;
    model->checkpoint = checkpoint;
    trainer_forward(&trainer, &batch);
    trainer_backward(&trainer, 1.0f / (float)N);
    optimizer_step(optimizer, 0);
    *peak = memory_peak(memory);
    optimizer_free(optimizer);
    model_free(model);
    memory_free(memory);
    free(ids);
}
