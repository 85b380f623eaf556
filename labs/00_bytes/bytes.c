/* Lab 00: how many bytes does a training step take? The contracts are in common/lab00.h. */
#include "common/lab00.h"

#include "common/lab.h"

size_t bytes_params(const ModelConfig *config) {
    (void)config;
    TODO("task 1: count the numbers in all parameters (about 5 lines)");
}

MemoryUse bytes_states(const ModelConfig *config) {
    (void)config;
    TODO("task 2: bytes of weights, gradients and optimizer states (about 6 lines)");
}

size_t bytes_block(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    TODO("task 3: bytes that one block keeps for its backward (about 8 lines)");
}

size_t bytes_activations(const ModelConfig *config, int B, int T) {
    (void)config, (void)B, (void)T;
    TODO("task 4: the most activation bytes at any one time (about 8 lines)");
}

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    (void)config, (void)B, (void)T, (void)device;
    TODO("task 5: all kinds together (about 5 lines)");
}
