/* Lab 00: how many bytes does a training step take?
   The contracts are in labs/00_bytes/contract.h. */
#include "labs/00_bytes/contract.h"

#include "common/lab.h"

size_t bytes_params(const ModelConfig *config) {
#ifndef STUB
    size_t V = (size_t)config->V, T = (size_t)config->T, C = (size_t)config->C;
    size_t L = (size_t)config->L;
    /* matrices and biases: query, key, value and the projection; C to 4C and back */
    size_t attention = 3 * C * C + 3 * C + C * C + C;
    size_t mlp = 4 * C * C + 4 * C + 4 * C * C + C;
    size_t norm = 2 * C;
    return V * C + T * C + L * (norm + attention + norm + mlp) + norm;
#else
    (void)config;
    TODO("task 1: count the elements of all parameters (about 5 lines)");
#endif
}

MemoryUse bytes_states(const ModelConfig *config) {
    size_t P = bytes_params(config);
#ifndef STUB
    MemoryUse use = {{0}};
    size_t floats = config->precision == F32 ? 2 : 3; /* m, v, and a master of half weights */
    use.bytes[MEMORY_WEIGHTS] = P * precision_bytes(config->precision);
    use.bytes[MEMORY_GRADIENTS] = P * sizeof(float);
    use.bytes[MEMORY_OPTIMIZER] = P * floats * sizeof(float);
    return use;
#else
    (void)P;
    TODO("task 2: bytes of weights, gradients and optimizer states (about 5 lines)");
#endif
}

size_t bytes_block(const ModelConfig *config, int B, int T) {
#ifndef STUB
    size_t N = (size_t)B * (size_t)T, C = (size_t)config->C, NH = (size_t)config->NH;
    /* ln1 C, qkv 3C, attention C, mid C, ln2 C, fc 4C, gelu 4C; mean and rstd of two norms */
    size_t numbers = 15 * C, floats = 4;
    if (config->attention == ATTENTION_PLAIN) {
        numbers += NH * (size_t)T;
    } else {
        floats += NH;
    }
    return N * (numbers * precision_bytes(config->precision) + floats * sizeof(float));
#else
    (void)config, (void)B, (void)T;
    TODO("task 3: bytes that one block keeps for its backward (about 8 lines)");
#endif
}

size_t bytes_activations(const ModelConfig *config, int B, int T) {
    size_t each = bytes_block(config, B, T);
#ifndef STUB
    size_t N = (size_t)B * (size_t)T, C = (size_t)config->C;
    size_t row = (size_t)logits_stride(config->V); /* of logits: V numbers, and padding */
    size_t number = precision_bytes(config->precision);
    size_t stream = N * C * number; /* one tensor of the residual stream */
    size_t kept = 2 * stream + (size_t)config->L * (stream + each);
    /* The head: ln_f and its gradient, logits, and four floats a token. */
    size_t head = 2 * stream + N * (row * number + 4 * sizeof(float));
    /* A block backward: the gradient of fc (4C) and of one branch (C), or of qkv (3C) and two. */
    size_t block = 5 * stream;
    return kept + (head > block ? head : block);
#else
    (void)each;
    TODO("task 4: the most activation bytes at any one time (about 7 lines)");
#endif
}

MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device) {
    MemoryUse use = bytes_states(config);
    use.bytes[MEMORY_ACTIVATIONS] = bytes_activations(config, B, T);
#ifndef STUB
    use.bytes[MEMORY_DATA] = 2 * (size_t)B * (size_t)T * sizeof(int32_t);
    use.bytes[MEMORY_WORKSPACE] = workspace_bytes(config, device);
#else
    (void)device;
    TODO("task 5: all kinds together: two are still missing (about 2 lines)");
#endif
    return use;
}
