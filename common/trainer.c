#include "common/trainer.h"

#include <stdlib.h>

void trainer_measure(const ModelConfig *config, int B, int T, Device *device, MemoryUse *peak) {
    size_t N = (size_t)B * (size_t)T;
    int32_t *ids = calloc(N, sizeof *ids);
    CHECK(ids != NULL, "no host memory for %zu tokens", N);
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids, .valid = (int)N};

    Memory *memory = memory_new(device, (MemoryOptions){.checked = memory_checked_by_default()});
    Model *model = model_new(config, memory, 0);
    Optimizer *optimizer = NULL;
    if (config->precision == F32) {
        optimizer = optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    }
    model_forward(model, &batch);
    model_backward(model, 1.0f / (float)N);
    if (optimizer != NULL) {
        optimizer_step(optimizer, 0);
    }
    *peak = memory_peak(memory);
    optimizer_free(optimizer);
    model_free(model);
    memory_free(memory);
    free(ids);
}
