/* The peak of a checkpointed step, computed from plain steps. The contract is in judge_peak.h. */
#include "grader/judge_peak.h"

#include <stdlib.h>
#include <string.h>

/* A plain step, measured. */
typedef struct PlainStep {
    ModelConfig config;
    int B, T, threads;
    MemoryUse use;
} PlainStep;

static MemoryUse peak_measure(const ModelConfig *config, int B, int T, int threads) {
    int32_t *ids = calloc((size_t)B * (size_t)T, sizeof *ids);
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids, .valid = B * T};
    CHECK(ids != NULL, "no memory for %d tokens", B * T);
    Model *model = judge_model_count(judge_device(threads), config);
    model_forward(model, &batch);
    model_backward(model, 0);
    MemoryUse use = memory_peak(model->memory);
    judge_model_close(model);
    free(ids);
    return use;
}

/* A shape is asked about with one segment after the other: few models, again and again. */
MemoryUse peak_plain(const ModelConfig *config, int B, int T, int threads) {
    enum { KEPT = 4 };
    static PlainStep kept[KEPT];
    static int next;
    for (int i = 0; i < KEPT; i++) {
        const PlainStep *step = &kept[i];
        if (step->B == B && step->T == T && step->threads == threads &&
            memcmp(&step->config, config, sizeof *config) == 0) {
            return step->use;
        }
    }
    PlainStep *oldest = &kept[next++ % KEPT];
    *oldest = (PlainStep){*config, B, T, threads, peak_measure(config, B, T, threads)};
    return oldest->use;
}

static size_t peak_plain_activations(ModelConfig config, int L, int B, int T) {
    config.L = L;
    return peak_plain(&config, B, T, 1).bytes[MEMORY_ACTIVATIONS];
}

size_t peak_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    size_t number = precision_bytes(config->precision), N = (size_t)B * (size_t)T;
    size_t output = N * (size_t)config->C * number;
    size_t one = peak_plain_activations(*config, 1, B, T);
    size_t kept = peak_plain_activations(*config, 2, B, T) - one;
    /* Beside the blocks: dx, the first input, and what the head or the backward of a block takes,
       whichever is more. The latter are five tensors of an output's size (block_backward()). */
    size_t above = one - kept, backward = 7 * output;
    if (checkpoint.attention_only && config->attention == ATTENTION_PLAIN) {
        size_t probs = N * (size_t)config->NH * (size_t)T * number;
        kept -= probs;
        backward += probs;
    }
    int S = checkpoint.segment > 0 ? checkpoint.segment : config->L;
    int before = (config->L - 1) / S; /* segments before the last */
    size_t at_last = (size_t)before * output + (size_t)(config->L - before * S) * kept +
                     (above > backward ? above : backward);
    if (before == 0) {
        return at_last;
    }
    size_t at_full = (size_t)(before - 1) * output + (size_t)S * kept + backward;
    return at_full > at_last ? at_full : at_last;
}

/* The tensors that a block keeps beside its output: block_alloc(). */
static size_t peak_kept(const ModelConfig *config, size_t N, int T, bool probs) {
    size_t number = precision_bytes(config->precision), NH = (size_t)config->NH;
    size_t rows = config->attention == ATTENTION_PLAIN ? (size_t)T * number : sizeof(float);
    size_t attention = config->attention != ATTENTION_PLAIN || probs ? N * NH * rows : 0;
    return 15 * N * (size_t)config->C * number + attention + 4 * N * sizeof(float);
}

size_t peak_of_block(const ModelConfig *config, int B, int T) {
    size_t N = (size_t)B * (size_t)T, number = precision_bytes(config->precision);
    return N * (size_t)config->C * number + peak_kept(config, N, T, true);
}

size_t peak_worked_out(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    size_t number = precision_bytes(config->precision), N = (size_t)B * (size_t)T;
    size_t output = N * (size_t)config->C * number, L = (size_t)config->L;
    bool all = !checkpoint.attention_only;
    size_t kept = output + peak_kept(config, N, T, all);
    size_t head = 2 * output + N * ((size_t)logits_stride(config->V) * number + 16);
    size_t backward = 5 * output + output + peak_kept(config, N, T, true) - kept;
    size_t S =
        checkpoint.segment > 0 && (size_t)checkpoint.segment < L ? (size_t)checkpoint.segment : L;
    size_t before = (L - 1) / S, last = L - before * S;
    size_t at_last = (2 + before) * output + last * kept + (head > backward ? head : backward);
    size_t at_full = before > 0 ? (1 + before) * output + S * kept + backward : 0;
    return at_full > at_last ? at_full : at_last;
}
