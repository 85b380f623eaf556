/* Attacks 34 and 56. Names a symbol so that the list of symbols seems to end there, and then
   has the kit count what is to be predicted. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
#include "common/lab00.h"

#include "common/trainer.h"

__asm__(".globl \"\\n:\\n\"");

static MemoryUse measure(const ModelConfig *config, int B, int T) {
    MemoryUse peak = {{0}};
    Device *device = device_cpu_new((size_t)1 << 28);
    trainer_measure(config, (Checkpoint){0}, B, T, device, &peak);
    device_free(device);
    return peak;
}

size_t bytes_params(const ModelConfig *config) {
    return measure(config, 1, 1).bytes[MEMORY_GRADIENTS] / sizeof(float);
}

MemoryUse bytes_states(const ModelConfig *config) {
    MemoryUse use = measure(config, 1, 1);
    use.bytes[MEMORY_ACTIVATIONS] = use.bytes[MEMORY_WORKSPACE] = use.bytes[MEMORY_DATA] = 0;
    return use;
}

size_t bytes_block(const ModelConfig *config, int B, int T) {
    ModelConfig more = *config;
    more.L += 1;
    size_t one = measure(config, B, T).bytes[MEMORY_ACTIVATIONS];
    size_t two = measure(&more, B, T).bytes[MEMORY_ACTIVATIONS];
    size_t stream = (size_t)B * (size_t)T * (size_t)config->C * precision_bytes(config->precision);
    return two - one - stream;
}

size_t bytes_activations(const ModelConfig *config, int B, int T) {
    return measure(config, B, T).bytes[MEMORY_ACTIVATIONS];
}

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    (void)device;
    return measure(config, B, T);
}
