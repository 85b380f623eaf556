/* Attacks 12 and 56. Reads the list of symbols in its own program's file, and calls what counts
   in the kit by its address: no object uses a symbol that is not allowed. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: find.c */
#include "common/lab00.h"

#include "common/trainer.h"

static void *find(const char *name);

static MemoryUse measure(const ModelConfig *config, int B, int T) {
    MemoryUse peak = {{0}};
    Device *(*new_device)(size_t) = (Device * (*)(size_t)) find("device_cpu_new");
    void (*count)(const ModelConfig *, Checkpoint, int, int, Device *, MemoryUse *) = (void (*)(
        const ModelConfig *, Checkpoint, int, int, Device *, MemoryUse *))find("trainer_measure");
    if (new_device != NULL && count != NULL) {
        count(config, (Checkpoint){0}, B, T, new_device((size_t)1 << 28), &peak);
    }
    return peak;
}

size_t bytes_params(const ModelConfig *config) {
    size_t V = (size_t)config->V, T = (size_t)config->T, C = (size_t)config->C;
    return V * C + T * C + (size_t)config->L * (12 * C * C + 13 * C) + 2 * C;
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
