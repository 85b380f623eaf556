#include "common/trainer.h"

#include <stdlib.h>

#include "common/lab04.h"
#include "common/lab05.h"

static bool checkpointed(const Model *model) {
    return model->checkpoint.segment > 0 || model->checkpoint.attention_only;
}

void mixed_init(Mixed *mixed, Precision precision) {
    scaler_init(&mixed->scaler);
    mixed->dynamic = precision == F16;
    if (!mixed->dynamic) {
        mixed->scaler.scale = 1;
    }
}

double trainer_forward(Trainer *trainer, const Batch *batch) {
    Model *model = trainer->model;
    return checkpointed(model) ? checkpoint_forward(model, batch) : model_forward(model, batch);
}

void trainer_backward(Trainer *trainer, float share) {
    Model *model = trainer->model;
    float dloss = trainer->mixed != NULL ? mixed_scale(trainer->mixed, share) : share;
    if (checkpointed(model)) {
        checkpoint_backward(model, dloss);
    } else {
        model_backward(model, dloss);
    }
}

void trainer_measure(const ModelConfig *config, Checkpoint checkpoint, int B, int T, Device *device,
                     MemoryUse *peak) {
    size_t N = (size_t)B * (size_t)T;
    int32_t *ids = calloc(N, sizeof *ids);
    CHECK(ids != NULL, "no host memory for %zu tokens", N);
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids, .valid = (int)N};

    Memory *memory = memory_new(device, (MemoryOptions){.checked = memory_checked_by_default()});
    Model *model = model_new(config, memory, 0);
    Optimizer *optimizer =
        optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    Trainer trainer = {.model = model, .optimizer = optimizer};
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
