/* Lab 00: how many bytes does a training step take?
   The contracts are in labs/00_bytes/contract.h. */
#include "labs/00_bytes/contract.h"

#include "common/lab.h"

size_t bytes_params(const ModelConfig *config) {
    (void)config;
    TODO("task 1: count the elements of all parameters (about 5 lines)");
}

MemoryUse bytes_states(const ModelConfig *config) {
    size_t P = bytes_params(config);
    (void)P;
    TODO("task 2: bytes of weights, gradients and optimizer states (about 5 lines)");
}

size_t bytes_block(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    TODO("task 3: bytes that one block keeps for its backward (about 8 lines)");
}

size_t bytes_activations(const ModelConfig *config, int B, int T) {
    size_t each = bytes_block(config, B, T);
    (void)each;
    TODO("task 4: the most activation bytes at any one time (about 7 lines)");
}

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    MemoryUse use = bytes_states(config);
    use.bytes[MEMORY_ACTIVATIONS] = bytes_activations(config, B, T);
    (void)device;
    TODO("task 5: all kinds together: two are still missing (about 2 lines)");
    return use;
}
