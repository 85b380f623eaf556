/* Lab 04 in a stage of a pipeline. The contract is in segments.h. */
#include "train/segments.h"

#include "common/range.h"
#include "labs/00_bytes/contract.h"
#include "labs/04_checkpoint/contract.h"

static Real *forward_blocks(Pass *pass, int first, int last, Real *x) {
    Batch batch = {.B = pass->B, .T = pass->T, .on_device = true};
    Model *range = range_open(pass, first, last, x);
    checkpoint_forward(range, &batch);
    *pass->rng = range->rng;
    pass->kept = range;
    return range->pass.x[last - first];
}

static void backward_blocks(Pass *pass, int first, int last, Real *dx) {
    Model *range = pass->kept;
    CHECK(range != NULL && range->config.L == last - first && dx == pass->dx,
          "blocks %d to %d run backward as they ran forward, with the pass's gradient", first,
          last);
    checkpoint_backward(range, 0); /* the head's share: it has run */
    pass->model->block_forwards += range->block_forwards;
    pass->kept = NULL;
    range_close(range);
}

void segments_set(Model *model) {
    model->forward_blocks = forward_blocks;
    model->backward_blocks = backward_blocks;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t segments_bytes(const ModelConfig *config, const PipePlan *plan, Checkpoint checkpoint, int B,
                      int T) {
    ModelPart part = pipe_part(config, plan->stages, plan->stage);
    size_t L = (size_t)(part.last - part.first), S = (size_t)checkpoint.segment;
    S = 0 < S && S < L ? S : L;
    size_t before = (L + S - 1) / S - 1, N = (size_t)B * (size_t)T;
    size_t number = precision_bytes(config->precision), stream = N * (size_t)config->C * number;
    bool plain = checkpoint.attention_only && config->attention == ATTENTION_PLAIN;
    size_t probs = plain ? N * (size_t)config->NH * (size_t)T * number : 0;
    size_t block = stream + bytes_block(config, B, T) - probs, backward = probs + 5 * stream;
    size_t row = (size_t)logits_stride(config->V) * number;
    size_t head = part.head ? stream + N * (row + 4 * sizeof(float)) : 0;
    size_t last = (L - before * S) * block; /* of the segment that stays */
    size_t each = 2 * stream + before * stream + last;
    size_t in_flight = (size_t)pipe_in_flight(plan) * (each + head) - head;
    size_t peak = in_flight + larger(part.head ? head + stream : 0, backward);
    if (before > 0) { /* the segment before, in place of the last and of its input */
        peak = larger(peak, in_flight - last - stream + S * block + backward);
    }
    return peak;
}
