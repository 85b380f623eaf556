#include "grader/labs/04_checkpoint/mistakes.h"

#include <string.h>

#include "grader/labs/04_checkpoint/protocol.h"

enum { MOST_LAYERS = 16 };

const char *const checkpoint_mistake_sentence[CHECKPOINT_MISTAKES] = {
    [FRESH_MASKS] = "blocks that run again draw new dropout masks: put the dropout stream back to "
                    "where it stood when they ran first",
    [NO_MASKS] = "blocks run again without dropout: the masks of the first run are wanted",
    [INPUT_BEFORE] = "a segment runs again from the input of the segment before it",
    [INPUT_BEHIND] = "a segment runs again from its own output: its input is x[first]",
    [OVERWRITTEN] =
        "the input of a segment is overwritten when the segment runs first: only its own "
        "scratch may be",
    [LAST_SEGMENT] = "only the blocks of the last segment run backward",
    [BACKWARD_TWICE] = "each block runs backward twice",
    [NO_EMBEDDING] = "the embedding does not run backward: model_embed_backward()",
    [LAST_PASS] = "the gradients are those of the last micro-batch alone: backward adds",
};

/* The tensors that a pass keeps: everything, and of each segment the place in
   the dropout stream. */
typedef struct Kept {
    Real *x[MOST_LAYERS + 1];
    Block block[MOST_LAYERS];
    Rng rng[MOST_LAYERS];
} Kept;

static void kept_run(Model *model, int first, int end, Kept *kept) {
    kept->rng[first] = model->rng;
    for (int layer = first; layer < end; layer++) {
        kept->x[layer + 1] = model_boundary(model, layer);
        kept->block[layer] = block_alloc(model, layer);
        block_forward(model, layer, kept->x[layer + 1], kept->x[layer], &kept->block[layer]);
    }
}

static void kept_run_again(Model *model, int first, int end, const Kept *kept,
                           CheckpointMistake mistake, Kept *again) {
    int before = mistake == INPUT_BEFORE && first > 0 ? first - (end - first)
                 : mistake == INPUT_BEHIND            ? end
                 : mistake == OVERWRITTEN             ? end - 1
                                                      : first;
    again->x[first] = kept->x[before];
    Rng rng = model->rng;
    model->rng = mistake == FRESH_MASKS ? rng : kept->rng[first];
    model->pass.train = mistake != NO_MASKS;
    kept_run(model, first, end, again);
    model->pass.train = true;
    model->rng = mistake == FRESH_MASKS ? model->rng : rng;
}

static void mistaken_pass(Model *model, const Batch *batch, float share, int S,
                          CheckpointMistake mistake) {
    int L = model->config.L, last = (L - 1) / S * S;
    Kept kept, again;
    model_begin(model, batch, true);
    kept.x[0] = model_embed(model);
    for (int first = 0; first < L; first += S) {
        kept_run(model, first, first + S < L ? first + S : L, &kept);
    }
    model_head_forward(model, kept.x[L]);
    model_head_backward(model, kept.x[L], share);
    for (int first = last; first >= (mistake == LAST_SEGMENT ? last : 0); first -= S) {
        int end = first + S < L ? first + S : L;
        if (first < last) {
            kept_run_again(model, first, end, &kept, mistake, &again);
        }
        const Kept *from = first < last ? &again : &kept;
        for (int layer = end - 1; layer >= first; layer--) {
            for (int i = 0; i < (mistake == BACKWARD_TWICE ? 2 : 1); i++) {
                block_backward(model, layer, model->pass.dx, from->x[layer], &from->block[layer]);
            }
        }
    }
    if (mistake != NO_EMBEDDING) {
        model_embed_backward(model);
    }
    model_end(model);
}

/* A model as the judge opens it. */
static Model *mistaken_model(const ModelConfig *config, uint64_t seed) {
    CHECK(config->L <= MOST_LAYERS, "%d layers", config->L);
    Model *model = judge_model_open(judge_device(1), config, seed);
    model->rng.offset = DROPOUT_DRAWN;
    return model;
}

double mistaken_short_loss(const ModelConfig *config, uint64_t seed, const Batch *batch,
                           int blocks) {
    Model *model = mistaken_model(config, seed);
    Kept kept;
    model_begin(model, batch, true);
    kept.x[0] = model_embed(model);
    kept_run(model, 0, blocks, &kept);
    double loss = model_head_forward(model, kept.x[blocks]);
    model_end(model);
    judge_model_close(model);
    return loss;
}

void mistaken_step(const ModelConfig *config, int segment, uint64_t seed, const Batch *batch,
                   int passes, float share, CheckpointMistake mistake, float *const *to) {
    Model *model = mistaken_model(config, seed);
    for (int i = mistake == LAST_PASS ? passes - 1 : 0; i < passes; i++) {
        mistaken_pass(model, &batch[i], share, segment > 0 ? segment : config->L, mistake);
    }
    for (int i = 0; i < model->param_count; i++) {
        memcpy(to[i], model->params[i].grad, model->params[i].count * sizeof(float));
    }
    judge_model_close(model);
}
