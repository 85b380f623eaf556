/* Lab 14: the bytes of a rank, and those that ranks send. The contract is
   in labs/14_tensor/contract.h. */
#include "common/lab.h"
#include "kernels/crossentropy.h"
#include "labs/14_tensor/contract.h"

/* Numbers of all parameters that a rank has. */
static size_t numbers_here(const ModelConfig *config, int ranks, int rank) {
#ifndef STUB
    size_t C = (size_t)config->C, R = (size_t)ranks, L = (size_t)config->L;
    size_t split = 12 * C * C + 3 * C + 4 * C, whole = 2 * C + C + 2 * C + C;
    size_t rows = (size_t)slice_vocab(config->V, ranks, rank).count + (size_t)config->T;
    return rows * C + 2 * C + L * (split / R + whole);
#else
    (void)config, (void)ranks, (void)rank;
    TODO("task 5: the numbers of a rank (about 4 lines)");
#endif
}

MemoryUse tp_states(const ModelConfig *config, int ranks, int rank) {
    MemoryUse use = {0};
    size_t numbers = numbers_here(config, ranks, rank);
#ifndef STUB
    bool half = config->precision != F32;
    use.bytes[MEMORY_WEIGHTS] = numbers * precision_bytes(config->precision);
    use.bytes[MEMORY_GRADIENTS] = numbers * sizeof(float);
    use.bytes[MEMORY_OPTIMIZER] = numbers * (half ? 3 : 2) * sizeof(float);
    return use;
#else
    (void)numbers, (void)use;
    TODO("task 5: weights, gradients, states (about 4 lines)");
#endif
}

#ifndef STUB
static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Bytes that a block keeps: of the 15 C numbers of a token, 12 C are split. */
static size_t block_bytes(const ModelConfig *config, size_t N, size_t T, size_t R) {
    size_t C = (size_t)config->C, heads = (size_t)config->NH / R;
    size_t numbers = 3 * C + 12 * C / R, floats = 4;
    if (config->attention == ATTENTION_PLAIN) {
        numbers += heads * T;
    } else {
        floats += heads;
    }
    return N * (numbers * precision_bytes(config->precision) + floats * sizeof(float));
}

/* Bytes of the head at its widest: the logits of this rank's rows, and above them the scratch of
   forward or of backward. */
static size_t head_bytes(const ModelConfig *config, size_t N, int ranks, int rank) {
    size_t number = precision_bytes(config->precision), stream = N * (size_t)config->C * number;
    size_t row = (size_t)logits_stride(slice_vocab(config->V, ranks, rank).count);
    size_t scratch = N * sizeof(int32_t) + larger(3 * N * sizeof(float), stream);
    return stream + N * (row * number + 4 * sizeof(float)) + scratch;
}
#endif

size_t tp_activations(const ModelConfig *config, int B, int T, int ranks, int rank,
                      Checkpoint checkpoint) {
#ifndef STUB
    size_t N = (size_t)B * (size_t)T, number = precision_bytes(config->precision);
    size_t R = (size_t)ranks, L = (size_t)config->L, C = (size_t)config->C, probs = 0;
    size_t stream = N * C * number;
    size_t S =
        checkpoint.segment > 0 && checkpoint.segment < config->L ? (size_t)checkpoint.segment : L;
    size_t count = (L + S - 1) / S;
    if (checkpoint.attention_only && config->attention == ATTENTION_PLAIN) {
        probs = N * (size_t)config->NH / R * (size_t)T * number;
    }
    size_t block = stream + block_bytes(config, N, (size_t)T, R) - probs;
    size_t backward = probs + N * (C + 4 * C / R) * number;
    size_t inputs = (1 + count) * stream; /* dx, x[0], the outputs of all segments but the last */
    size_t peak = inputs + (L - (count - 1) * S) * block +
                  larger(head_bytes(config, N, ranks, rank), backward);
    if (count > 1) {
        peak = larger(peak, inputs - stream + S * block + backward);
    }
    return peak;
#else
    (void)config, (void)B, (void)T, (void)ranks, (void)rank, (void)checkpoint;
    TODO("task 5: the most activation bytes at any one time (about 45 lines, with its parts)");
#endif
}

size_t tp_wire_bytes(const ModelConfig *config, int B, int T, int ranks) {
#ifndef STUB
    size_t N = (size_t)B * (size_t)T, L = (size_t)config->L;
    size_t stream = N * (size_t)config->C * precision_bytes(config->precision);
    /* four for each block, embedding and head; then max, sum and the target's logit */
    return 2 * (size_t)(ranks - 1) * ((4 * L + 2) * stream + 3 * N * sizeof(float));
#else
    (void)config, (void)B, (void)T, (void)ranks;
    TODO("task 5: the bytes on the wire (about 3 lines)");
#endif
}
