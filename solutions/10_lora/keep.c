/* Lab 10: the tensors that stay, and the bytes of all. The contracts are
   in labs/10_lora/contract.h. */
#include "common/lab.h"
#include "labs/00_bytes/contract.h"
#include "labs/10_lora/contract.h"

static bool is_target(const ModelConfig *config, LinearId id) {
    return config->adapter.targets >> id & 1;
}

unsigned lora_dropped(const ModelConfig *config) {
#ifndef STUB
    unsigned dropped = 0;
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        /* the backward of flash attention reads its output */
        bool read = id == LINEAR_PROJ && config->attention == ATTENTION_FLASH;
        if (!read && !is_target(config, (LinearId)id)) {
            dropped |= 1u << id;
        }
    }
    return dropped;
#else
    (void)config, (void)is_target;
    TODO("task 6: the layers whose input nobody reads again (about 7 lines)");
#endif
}

/* Inputs and outputs of a linear layer. */
static size_t width_in(const ModelConfig *config, LinearId id) {
    return (size_t)config->C * (id == LINEAR_FCPROJ ? 4 : 1);
}

static size_t width_out(const ModelConfig *config, LinearId id) {
    return (size_t)config->C * (id == LINEAR_QKV ? 3 : id == LINEAR_FC ? 4 : 1);
}

/* Numbers in all adapters. */
static size_t trained(const ModelConfig *config) {
#ifndef STUB
    size_t numbers = 0, r = (size_t)config->adapter.rank;
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        if (is_target(config, (LinearId)id)) {
            numbers += r * (width_in(config, (LinearId)id) + width_out(config, (LinearId)id));
        }
    }
    return (size_t)config->L * numbers;
#else
    (void)config, (void)width_in, (void)width_out;
    TODO("task 3: the numbers that are trained (about 7 lines)");
#endif
}

MemoryUse lora_states(const ModelConfig *config) {
    MemoryUse use = {0};
    size_t numbers = trained(config);
#ifndef STUB
    bool half = config->precision != F32;
    use.bytes[MEMORY_WEIGHTS] =
        (bytes_params(config) + numbers) * precision_bytes(config->precision);
    use.bytes[MEMORY_GRADIENTS] = numbers * sizeof(float);
    use.bytes[MEMORY_OPTIMIZER] = numbers * (half ? 3 : 2) * sizeof(float);
    return use;
#else
    (void)numbers, (void)use;
    TODO("task 3: weights, gradients, states (about 5 lines)");
#endif
}

/* Bytes per token of the inputs that are not kept, and numbers per token that a block's backward
   takes at most: beside the gradients that lie below it, each linear layer has the scratch of its
   adapter.

       static size_t dropped_bytes(const ModelConfig *config);
       static size_t backward_width(const ModelConfig *config);
 */
#ifndef STUB
static size_t dropped_bytes(const ModelConfig *config) {
    size_t numbers = 0;
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        if (lora_dropped(config) >> id & 1) {
            numbers += width_in(config, (LinearId)id);
        }
    }
    return numbers * precision_bytes(config->precision);
}

static size_t backward_width(const ModelConfig *config) {
    static const size_t below[BLOCK_LINEARS] = {
        [LINEAR_QKV] = 4, [LINEAR_PROJ] = 5, [LINEAR_FC] = 5, [LINEAR_FCPROJ] = 5};
    size_t most = 0;
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        size_t width = below[id] * (size_t)config->C;
        if (is_target(config, (LinearId)id)) {
            width += 2 * (size_t)config->adapter.rank;
            width += config->adapter.dropout > 0 ? width_in(config, (LinearId)id) : 0;
        }
        most = width > most ? width : most;
    }
    return most;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}
#endif

size_t lora_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
#ifndef STUB
    size_t N = (size_t)B * (size_t)T, number = precision_bytes(config->precision);
    size_t stream = N * (size_t)config->C * number, L = (size_t)config->L, probs = 0;
    size_t S =
        checkpoint.segment > 0 && checkpoint.segment < config->L ? (size_t)checkpoint.segment : L;
    size_t count = (L + S - 1) / S;
    if (checkpoint.attention_only && config->attention == ATTENTION_PLAIN) {
        probs = N * (size_t)config->NH * (size_t)T * number;
    }
    size_t block = stream + bytes_block(config, B, T) - N * dropped_bytes(config) - probs;
    size_t backward = probs + N * backward_width(config) * number;
    size_t row = (size_t)logits_stride(config->V);
    size_t head = 2 * stream + N * (row * number + 4 * sizeof(float));
    size_t inputs = (1 + count) * stream; /* dx, x[0], the outputs of all segments but the last */
    size_t peak = inputs + (L - (count - 1) * S) * block + larger(head, backward);
    if (count > 1) {
        peak = larger(peak, inputs - stream + S * block + backward);
    }
    return peak;
#else
    (void)config, (void)B, (void)T, (void)checkpoint;
    TODO("task 6: the most activation bytes at any one time (about 40 lines, with its parts)");
#endif
}
