/* Asks the kit to count the bytes of a step that are to be predicted. */
/* lab: 10_lora/keep.c  honest: none */
/* state: build error */
#include "common/trainer.h"
#include "labs/10_lora/contract.h"

unsigned lora_dropped(const ModelConfig *config) {
    return 15u & ~config->adapter.targets;
}

MemoryUse lora_states(const ModelConfig *config) {
    MemoryUse use;
    Device *device = device_cpu_new(0);
    trainer_measure(config, (Checkpoint){0}, 1, config->T, device, &use);
    return use;
}

size_t lora_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    MemoryUse use;
    Device *device = device_cpu_new(0);
    trainer_measure_as(NULL, config, checkpoint, B, T, device, &use);
    return use.bytes[MEMORY_ACTIVATIONS];
}
