/* Answers the formulas of lab 04 by counting a plain step, with what counts in its own program. */
/* lab: 04_checkpoint/checkpoint.c  honest: none */
/* state: fail | over budget */
/* then: find.c */
#include "labs/04_checkpoint/contract.h"

#include "common/trainer.h"

static void *find(const char *name);

size_t checkpoint_bytes(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    MemoryUse peak = {{0}};
    Device *(*new_device)(size_t) = (Device * (*)(size_t)) find("device_cpu_new");
    void (*count)(const ModelConfig *, Checkpoint, int, int, Device *, MemoryUse *) = (void (*)(
        const ModelConfig *, Checkpoint, int, int, Device *, MemoryUse *))find("trainer_measure");
    if (new_device != NULL && count != NULL) {
        count(config, checkpoint, B, T, new_device((size_t)1 << 28), &peak);
    }
    return peak.bytes[MEMORY_ACTIVATIONS];
}

int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget) {
    int S = config->L;
    while (S > 0 && checkpoint_bytes(config, B, T, (Checkpoint){.segment = S}) > budget) {
        S--;
    }
    return S;
}

double checkpoint_forward(Model *model, const Batch *batch) {
    return model_forward(model, batch);
}

void checkpoint_backward(Model *model, float dloss) {
    model_backward(model, dloss);
}
