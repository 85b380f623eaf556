/* The runtime by itself: a few plain training steps in a program with no lab and nothing that
   stands in for one, linked with every object of libkit.a. It prints the loss of each step. */
#include <stdio.h>

#include "common/trainer.h"

enum { B = 2, T = 16, STEPS = 5 };

int main(void) {
    ModelConfig config = {.V = 256, .T = T, .L = 2, .NH = 2, .C = 32};
    Device *device = device_cpu_new(16 << 20);
    CHECK(device != NULL, "no address range of 16 MiB");
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Trainer trainer = {.model = model_new(&config, memory, 1)};
    trainer.optimizer =
        optimizer_new(trainer.model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});

    int32_t ids[B * T + 1];
    for (int i = 0; i <= B * T; i++) {
        ids[i] = i % 7;
    }
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids + 1, .valid = B * T};
    for (int i = 0; i < STEPS; i++) {
        printf("%.6f\n", trainer_forward(&trainer, &batch) / batch.valid);
        trainer_backward(&trainer, 1.0f / (float)batch.valid);
        optimizer_step(trainer.optimizer, 1e-2f);
        model_zero_grad(trainer.model);
    }
    optimizer_free(trainer.optimizer);
    model_free(trainer.model);
    memory_free(memory);
    device_free(device);
    return 0;
}
