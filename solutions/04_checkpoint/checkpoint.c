/* Lab 04: keep the input of some blocks, run the rest again. The contracts are
   in labs/04_checkpoint/contract.h. */
#include "labs/04_checkpoint/contract.h"

#include "common/lab.h"
#include "labs/00_bytes/contract.h"

/* ---- segments: segment s has the blocks segment_first(s) ... segment_end(s) - 1 -------------- */

/* Blocks in a segment; without segments all blocks are one. */
static int segment_blocks(int L, Checkpoint checkpoint) {
    return checkpoint.segment > 0 && checkpoint.segment < L ? checkpoint.segment : L;
}

static int segment_count(int L, int S) {
#ifndef STUB
    return (L + S - 1) / S;
#else
    if (S > 1 && S < L) {
        TODO("task 2: how many segments are there, if the last one may be short? (1 line)");
    }
    return L / S;
#endif
}

static int segment_first(int S, int s) {
    return s * S;
}

static int segment_end(int L, int S, int s) {
    int end = (s + 1) * S;
#ifndef STUB
    return end < L ? end : L;
#else
    (void)L;
    return end; /* task 2: in the last segment too? */
#endif
}

/* ---- a block that is kept -------------------------------------------------------------------- */

/* Forward of a block. Its output and all that its backward needs stay on the stack. An output that
   nothing will read (`read`) has its place there and is not computed. */
static void keep_block(Model *model, int layer, bool read) {
    Pass *pass = &model->pass;
    Block *block = &pass->blocks[layer];
    pass->marks[layer] = memory_mark(model->memory);
    pass->x[layer + 1] = model_boundary(model, layer);
    Real *out = read ? pass->x[layer + 1] : NULL;
    if (!model->checkpoint.attention_only) {
        *block = block_alloc(model, layer);
        block_forward(model, layer, out, pass->x[layer], block);
        return;
    }
#ifndef STUB
    *block = block_alloc_without_probs(model, layer);
    MemoryMark below_probs = memory_mark(model->memory);
    block_alloc_probs(model, layer, block);
    block_forward(model, layer, out, pass->x[layer], block);
    memory_release(model->memory, below_probs);
    block->probs = NULL;
#else
    TODO("task 4: keep everything but the probabilities of attention (about 6 lines)");
#endif
}

/* Backward of a kept block. Its tensors are released, its output too. */
static void spend_block(Model *model, int layer) {
    Pass *pass = &model->pass;
    Block *block = &pass->blocks[layer];
    if (model->checkpoint.attention_only) {
#ifndef STUB
        block_alloc_probs(model, layer, block);
        block_recompute_probs(model, block);
#else
        TODO("task 4: the probabilities are needed again (about 2 lines)");
#endif
    }
    block_backward(model, layer, pass->dx, pass->x[layer], block);
    memory_release(model->memory, pass->marks[layer]);
}

/* ---- a segment ------------------------------------------------------------------------------- */

/* `read`: whether the output of the last block will be; each other one is the next one's input. */
static void keep_segment(Model *model, int first, int end, bool read) {
    for (int layer = first; layer < end; layer++) {
        keep_block(model, layer, read || layer < end - 1);
    }
}

static void spend_segment(Model *model, int first, int end) {
    for (int layer = end - 1; layer >= first; layer--) {
        spend_block(model, layer);
    }
}

/* Forward of a segment. Only the output of its last block stays, x[end]. */
static void run_segment(Model *model, int first, int end) {
    Pass *pass = &model->pass;
#ifndef STUB
    pass->rngs[first] = model->rng;
#else
    if (model->config.dropout > 0) {
        TODO("task 3: remember where the dropout stream stands (1 line)");
    }
#endif
    pass->marks[first] = memory_mark(model->memory);
    pass->x[end] = model_boundary(model, end - 1);
#ifndef STUB
    const Real *in = pass->x[first];
    MemoryMark mark = memory_mark(model->memory);
    for (int layer = first; layer < end; layer++) {
        Block scratch = block_alloc(model, layer);
        block_forward(model, layer, pass->x[end], in, &scratch);
        memory_release(model->memory, mark);
        in = pass->x[end]; /* the next block replaces its input */
    }
#else
    TODO("task 1: run the block, and release what it kept (about 4 lines)");
#endif
}

/* The same segment once more, from x[first], and now everything stays. */
static void run_again(Model *model, int first, int end) {
#ifndef STUB
    Rng after = model->rng;
    model->rng = model->pass.rngs[first];
#else
    if (model->config.dropout > 0) {
        TODO("task 3: the same masks again, and the stream as if nothing had happened (3 lines)");
    }
#endif
#ifndef STUB
    /* x[end] goes as well: its reader has run backward, so nothing will read the new one. */
    memory_release(model->memory, model->pass.marks[first]);
    keep_segment(model, first, end, false);
#else
    (void)first, (void)end;
    TODO("task 1: run the segment again, keep what backward needs (about 2 lines)");
#endif
#ifndef STUB /* task 3 */
    model->rng = after;
#endif
}

/* ---- the pass -------------------------------------------------------------------------------- */

double checkpoint_forward(Model *model, const Batch *batch) {
    int L = model->config.L, S = segment_blocks(L, model->checkpoint);
    int last = segment_count(L, S) - 1;
    model_begin(model, batch, true);
    model->pass.x[0] = model_embed(model);
    for (int s = 0; s < last; s++) {
        run_segment(model, segment_first(S, s), segment_end(L, S, s));
    }
    /* Backward begins with the last segment: what it needs would be made again at once. */
    keep_segment(model, segment_first(S, last), segment_end(L, S, last), true);
    return model_head_forward(model, model->pass.x[L]);
}

void checkpoint_backward(Model *model, float dloss) {
    int L = model->config.L, S = segment_blocks(L, model->checkpoint);
    int last = segment_count(L, S) - 1;
    CHECK(model->pass.active && model->pass.train, "checkpoint_forward() comes first");
    model_head_backward(model, model->pass.x[L], dloss);
    for (int s = last; s >= 0; s--) {
        int first = segment_first(S, s), end = segment_end(L, S, s);
        if (s < last) {
            run_again(model, first, end);
        }
        spend_segment(model, first, end);
    }
    model_embed_backward(model);
    model_end(model);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

#ifndef STUB
static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

#endif
size_t checkpoint_bytes(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    int L = config->L, S = segment_blocks(L, checkpoint), count = segment_count(L, S);
#ifndef STUB
    size_t N = (size_t)B * (size_t)T, C = (size_t)config->C;
    size_t row = (size_t)logits_stride(config->V);
    size_t number = precision_bytes(config->precision), stream = N * C * number;
    size_t each = bytes_block(config, B, T), probs = 0;
    if (checkpoint.attention_only && config->attention == ATTENTION_PLAIN) {
        probs = N * (size_t)config->NH * (size_t)T * number;
    }
    size_t block = stream + each - probs; /* kept, its output included */
    size_t backward = probs + 5 * stream; /* what one block's backward takes */
    size_t head = 2 * stream + N * (row * number + 4 * sizeof(float));
    /* dx, x[0], and the outputs of all segments but the last; then the last segment. */
    size_t inputs = 2 * stream + (size_t)(count - 1) * stream;
    size_t last = (size_t)(L - (count - 1) * S) * block;
    size_t peak = inputs + last + larger(head, backward);
    if (count > 1) { /* the segment before has one input less above it, but may be longer */
        peak = larger(peak, inputs - stream + (size_t)S * block + backward);
    }
    return peak;
#else
    (void)B, (void)T, (void)count;
    TODO("task 5: the most activation bytes at any one time (about 15 lines)");
#endif
}

int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget) {
#ifndef STUB
    int best = 0, best_again = 0;
    size_t best_tie = 0;
    for (int S = 1; S <= config->L; S++) {
        int again = (segment_count(config->L, S) - 1) * S;
        size_t bytes = checkpoint_bytes(config, B, T, (Checkpoint){.segment = S});
        /* Of equals the one with the least of this wins. */
        size_t tie = bytes;
        bool better = best == 0 || again < best_again || (again == best_again && tie < best_tie);
        if (bytes <= budget && better) {
            best = S;
            best_again = again;
            best_tie = tie;
        }
    }
    return best;
#else
    (void)config, (void)B, (void)T, (void)budget;
    TODO("task 5: the segment that runs the fewest blocks again and fits (about 12 lines)");
#endif
}
