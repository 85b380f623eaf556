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
    if (S > 1 && S < L) {
        TODO("task 2: how many segments are there, if the last one may be short? (1 line)");
    }
    return L / S;
}

static int segment_first(int S, int s) {
    return s * S;
}

static int segment_end(int L, int S, int s) {
    int end = (s + 1) * S;
    (void)L;
    return end; /* task 2: in the last segment too? */
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
    TODO("task 4: keep everything but the probabilities of attention (about 6 lines)");
}

/* Backward of a kept block. Its tensors are released, its output too. */
static void spend_block(Model *model, int layer) {
    Pass *pass = &model->pass;
    Block *block = &pass->blocks[layer];
    if (model->checkpoint.attention_only) {
        TODO("task 4: the probabilities are needed again (about 2 lines)");
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
    if (model->config.dropout > 0) {
        TODO("task 3: remember where the dropout stream stands (1 line)");
    }
    pass->marks[first] = memory_mark(model->memory);
    pass->x[end] = model_boundary(model, end - 1);
    TODO("task 1: run the block, and release what it kept (about 4 lines)");
}

/* The same segment once more, from x[first], and now everything stays. */
static void run_again(Model *model, int first, int end) {
    if (model->config.dropout > 0) {
        TODO("task 3: the same masks again, and the stream as if nothing had happened (3 lines)");
    }
    (void)first, (void)end;
    TODO("task 1: run the segment again, keep what backward needs (about 2 lines)");
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

size_t checkpoint_bytes(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    int L = config->L, S = segment_blocks(L, checkpoint), count = segment_count(L, S);
    (void)B, (void)T, (void)count;
    TODO("task 5: the most activation bytes at any one time (about 15 lines)");
}

int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget) {
    (void)config, (void)B, (void)T, (void)budget;
    TODO("task 5: the segment that runs the fewest blocks again and fits (about 12 lines)");
}
