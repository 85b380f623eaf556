#include "grader/labs/14_tensor/sizes.h"

#include "common/params.h"
#include "grader/labs/14_tensor/ranked.h"
#include "kernels/crossentropy.h"

size_t sizes_numbers(const ModelConfig *config, int R, int rank) {
    size_t numbers = 0;
    for (int at = 0; at < params_count(config); at++) {
        numbers += judge_count(config, at, R, rank);
    }
    return numbers;
}

MemoryUse sizes_states(const ModelConfig *config, int R, int rank) {
    MemoryUse use = {0};
    size_t numbers = sizes_numbers(config, R, rank);
    use.bytes[MEMORY_WEIGHTS] = numbers * precision_bytes(config->precision);
    use.bytes[MEMORY_GRADIENTS] = 4 * numbers;
    use.bytes[MEMORY_OPTIMIZER] = (config->precision == F32 ? 8 : 12) * numbers;
    return use;
}

/* Bytes per token, which is what most of a pass consists of. */
typedef struct PerToken {
    size_t stream, block, probs, backward, head, head_scratch;
} PerToken;

static PerToken per_token(const ModelConfig *config, int T, int R, int rank) {
    int first, rows;
    judge_rows(config->V, R, rank, &first, &rows);
    size_t r = precision_bytes(config->precision), C = (size_t)config->C, A = C / (size_t)R;
    size_t heads = (size_t)(config->NH / R), F = 4 * A;
    bool plain = config->attention == ATTENTION_PLAIN;
    PerToken use = {.stream = C * r, .probs = plain ? heads * (size_t)T * r : 0};
    /* ln1, mid and ln2; qkv, attention's output, fc, gelu; four floats of norms, lse */
    use.block = 3 * C * r + (3 * A + A + 2 * F) * r + 16 + (plain ? 0 : 4 * heads) + use.probs;
    /* dfc and a branch; dqkv, dout and a branch; dqkv and dln1 */
    use.backward = (F + C) * r;
    use.head = use.stream + (size_t)logits_stride(rows) * r + 16;
    use.head_scratch = 4 + (use.stream > 12 ? use.stream : 12);
    return use;
}

static size_t most(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t sizes_activations(const Shape *shape, int R, int rank) {
    const ModelConfig *config = &shape->config;
    PerToken use = per_token(config, shape->T, R, rank);
    size_t N = (size_t)shape->B * (size_t)shape->T, L = (size_t)config->L;
    size_t S = shape->checkpoint.segment > 0 ? (size_t)shape->checkpoint.segment : L;
    size_t peak = 0, segments = (L + S - 1) / S;
    size_t again = shape->checkpoint.attention_only ? use.probs : 0;
    size_t block = use.stream + use.block - again, backward = use.backward + again;
    for (size_t segment = 0; segment < segments; segment++) {
        bool last = segment == segments - 1;
        size_t blocks = last ? L - segment * S : S;
        /* dx, the inputs of this segment and of those before, and what runs above them */
        size_t below = (2 + segment) * use.stream + blocks * block;
        size_t above = last ? most(use.head + use.head_scratch, backward) : backward;
        peak = most(peak, below + above);
    }
    return N * peak;
}

size_t sizes_wire(const Shape *shape, int R) {
    const ModelConfig *config = &shape->config;
    size_t N = (size_t)shape->B * (size_t)shape->T, L = (size_t)config->L;
    size_t stream = N * (size_t)config->C * precision_bytes(config->precision);
    size_t reduced = stream; /* the embedding */
    reduced += L * 4 * stream;
    reduced += stream + 4 * N + 8 * N; /* ln_f's gradient; max, sum and target */
    return 2 * (size_t)(R - 1) * reduced;
}
