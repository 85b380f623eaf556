/* Lab 14 in the probe: slices, a layer, embedding, head, passes, on ranks of one process. */
#include <string.h>

#include "grader/labs/14_tensor/part_all.h"
#include "grader/labs/14_tensor/part_names.h"
#include "grader/labs/14_tensor/part_slice.h"
#include "grader/labs/14_tensor/protocol.h"
#include "grader/probe.h"
#include "labs/04_checkpoint/contract.h"
#include "labs/14_tensor/contract.h"

/* ---- slices ---------------------------------------------------------------------------------- */

static void vocab(const Wire *in, Wire *out) {
    size_t count;
    const int32_t *asked = wire_get(in, "asked", WIRE_I32, &count);
    uint64_t *to = wire_get(out, "rows", WIRE_U64, NULL);
    for (size_t i = 0; i < count / 3; i++) {
        VocabRows rows = slice_vocab(asked[3 * i], asked[3 * i + 1], asked[3 * i + 2]);
        to[2 * i] = (uint64_t)(int64_t)rows.first;
        to[2 * i + 1] = (uint64_t)(int64_t)rows.count;
    }
}

/* Question after question: a parameter is given, and a tensor with its result is wanted. */
static void slices(const Wire *in, Wire *out, bool join) {
    size_t count;
    ModelConfig config = probe_config(in);
    const int32_t *asked = wire_get(in, "asked", WIRE_I32, &count);
    for (size_t i = 0; i < count / ASKED_NUMBERS; i++, asked += ASKED_NUMBERS) {
        char name[WIRE_NAME];
        size_t n;
        int ranks = asked[ASKED_RANKS], rank = asked[ASKED_RANK];
        const float *given =
            wire_get(in, rank_name(name, "given", rank, "window", (int)i), WIRE_F32, NULL);
        float *to = wire_get(out, rank_name(name, "result", rank, "window", (int)i), WIRE_F32, &n);
        if (join) {
            memcpy(to,
                   wire_get(in, rank_name(name, "whole", rank, "window", (int)i), WIRE_F32, NULL),
                   n * sizeof *to);
            slice_join(to, given, &config, asked[ASKED_AT], ranks, rank);
        } else {
            slice_cut(to, given, &config, asked[ASKED_AT], ranks, rank);
        }
    }
}

static void cut(const Wire *in, Wire *out) {
    slices(in, out, false);
}

static void join(const Wire *in, Wire *out) {
    slices(in, out, true);
}

/* ---- one layer ------------------------------------------------------------------------------- */

static void linear_rank(RankRun *run) {
    SliceRun slice;
    slice_run_open(&slice, run);
    Model *model = slice.model;
    int layer = run->option[TP_LAYER];
    LinearId id = (LinearId)run->option[TP_ID];
    int32_t ids[1024] = {0};
    Batch batch = {.B = run->option[TP_B], .T = run->option[TP_T], .tokens = ids, .targets = ids};
    model_begin(model, &batch, true);
    Linear linear = linear_of(&model->pass, layer, id);
    Real *x = slice_run_real(&slice, "x"), *dout = slice_run_real(&slice, "dout");
    Real *out = slice_run_room(&slice, (size_t)linear.N * (size_t)linear.OC);
    Real *din = slice_run_room(&slice, (size_t)linear.N * (size_t)linear.IC);
    tp_forward(&linear, out, x);
    slice_run_give_real(&slice, "out", out);
    if (run->option[TP_BACKWARD]) {
        const Param *weight = model_block_params(model, layer) + linear_weight(id);
        tp_backward(&linear, din, dout, x);
        slice_run_give_real(&slice, "din", din);
        slice_run_give_grad(&slice, "dweight", weight);
        slice_run_give_grad(&slice, "dbias", weight + 1);
    }
    model_end(model);
    slice_run_close(&slice);
}

static void linear(const Wire *in, Wire *out) {
    ranks_run(in, out, linear_rank);
}

/* ---- embedding and head ---------------------------------------------------------------------- */

/* The embedding's backward sees how many rows it is given, whichever rank calls it: ranks take
   turns. */
enum { ROW_TABLES = 16 };
static struct {
    const float *dwte; /* of a rank that is in its backward, or NULL */
    int rows;
} row_table[ROW_TABLES];
static const Ops *ops_without_rows;
static Ops ops_with_rows;

static void embedding_backward_with_rows(float *dwte, float *dwpe, const Real *dout,
                                         const int32_t *tokens, int B, int T, int C, int V,
                                         const Workspace *workspace) {
    for (int rank = 0; rank < ROW_TABLES; rank++) {
        int rows = row_table[rank].dwte == dwte ? row_table[rank].rows : V;
        CHECK(V == rows, "embedding_backward() is given %d rows, and dwte has %d on rank %d", V,
              rows, rank);
    }
    ops_without_rows->embedding_backward(dwte, dwpe, dout, tokens, B, T, C, V, workspace);
}

static void embed_backward_with_rows(Model *model, int rank) {
    const Param *table = &model->base[WTE];
    CHECK(rank < ROW_TABLES, "rank %d", rank);
    ops_without_rows = &model->device->ops[model->config.precision];
    ops_with_rows = *ops_without_rows;
    ops_with_rows.embedding_backward = embedding_backward_with_rows;
    model->ops = &ops_with_rows;
    row_table[rank].dwte = table->grad;
    row_table[rank].rows = (int)(table->count / (size_t)model->config.C);
    tp_embed_backward(&model->pass);
    row_table[rank].dwte = NULL;
}

static void embed_rank(RankRun *run) {
    SliceRun slice;
    slice_run_open(&slice, run);
    Model *model = slice.model;
    Batch batch = given_batch(run->in, 0);
    model_begin(model, &batch, true);
    size_t n = (size_t)batch.B * (size_t)batch.T * (size_t)model->config.C;
    if (run->option[TP_BACKWARD]) {
        Real *dx = slice_run_real(&slice, "dout");
        model->ops->axpby(model->pass.dx, dx, n, 1, 0); /* dx is copied */
        embed_backward_with_rows(model, run->rank);
        slice_run_give_grad(&slice, "dwte", &model->base[WTE]);
        slice_run_give_grad(&slice, "dwpe", &model->base[WPE]);
    } else {
        Real *x = slice_run_room(&slice, n);
        tp_embed_forward(&model->pass, x);
        slice_run_give_real(&slice, "out", x);
    }
    model_end(model);
    slice_run_close(&slice);
}

static void embed(const Wire *in, Wire *out) {
    ranks_run(in, out, embed_rank);
}

/* A product whose rows have room at their end leaves there what nobody may read: on the CPU, whose
   fresh memory has NaN, which a maximum passes over. */
static const Ops *ops_without_ends;
static Ops ops_with_ends;

static void matmul_with_ends(Real *out, const Real *in, const Real *weight, const Real *bias, int N,
                             int C, int OC, int stride, const Workspace *workspace) {
    ops_without_ends->matmul_forward(out, in, weight, bias, N, C, OC, stride, workspace);
    float *number = (float *)out;
    for (int i = 0; i < N * stride; i++) {
        number[i] = i % stride < OC ? number[i] : 1e30f;
    }
}

static void put_ends(Model *model) {
    if (model->device->host_memory && model->config.precision == F32) {
        ops_without_ends = &model->device->ops[F32];
        ops_with_ends = *ops_without_ends;
        ops_with_ends.matmul_forward = matmul_with_ends;
        model->ops = &ops_with_ends;
    }
}

static void head_rank(RankRun *run) {
    SliceRun slice;
    slice_run_open(&slice, run);
    Model *model = slice.model;
    put_ends(model);
    Batch batch = given_batch(run->in, 0);
    model_begin(model, &batch, true);
    Real *x = slice_run_real(&slice, "x");
    double loss = model_head_forward(model, x);
    rank_give_double(run, "loss", 1, 0, loss);
    rank_give_double(run, "sum", 1, 0, pass_losses(&model->pass));
    rank_give(run, "losses", 0, model->pass.head.losses, (size_t)batch.B * (size_t)batch.T);
    if (run->option[TP_BACKWARD]) {
        const float *share = wire_get(run->in, "share", WIRE_F32, NULL);
        model_head_backward(model, x, *share);
        slice_run_give_real(&slice, "dx", model->pass.dx);
        slice_run_give_grad(&slice, "dwte", &model->base[WTE]);
        slice_run_give_grad(&slice, "dlnf", &model->base[LNF_WEIGHT]);
    }
    model_end(model);
    slice_run_close(&slice);
}

static void head(const Wire *in, Wire *out) {
    ranks_run(in, out, head_rank);
}

/* ---- whole passes ---------------------------------------------------------------------------- */

/* Passes over all batches that are given; gradients, bytes; with TP_EVALUATE the loss of the first
   one once more, as an evaluation gives it. */
static void passes_rank(RankRun *run) {
    SliceRun slice;
    slice_run_open(&slice, run);
    if (run->option[TP_NAMES]) {
        look_at_names(slice.model);
    }
    if (run->option[TP_EVALUATE]) {
        slice_run_before(&slice);
    }
    const float *share = wire_get(run->in, "share", WIRE_F32, NULL);
    for (int i = 0; i < given_batches(run->in); i++) {
        Batch batch = given_batch(run->in, i);
        rank_give_double(run, "loss", (size_t)given_batches(run->in), (size_t)i,
                         model_forward(slice.model, &batch));
        model_backward(slice.model, *share);
    }
    rank_give_gradients(run, "gradients", slice.model, 0);
    rank_give_bytes(run);
    if (run->option[TP_EVALUATE]) {
        Batch first = given_batch(run->in, 0);
        rank_give_double(run, "eval", 1, 0, model_evaluate(slice.model, &first));
    }
    slice_run_close(&slice);
}

static void passes(const Wire *in, Wire *out) {
    ranks_run(in, out, passes_rank);
}

/* Updates, each after a clip to the given norm. Blocks run again: their layers once more. */
static void steps_rank(RankRun *run) {
    SliceRun slice;
    slice_run_open(&slice, run);
    Model *model = slice.model;
    Optimizer *optimizer = optimizer_new(model, (AdamW)TP_ADAMW);
    const float *share = wire_get(run->in, "share", WIRE_F32, NULL);
    int steps = run->option[TP_STEPS];
    model->checkpoint.segment = 1;
    for (int i = 0; i < steps; i++) {
        Batch batch = given_batch(run->in, i);
        checkpoint_forward(model, &batch);
        checkpoint_backward(model, *share);
        rank_give_double(run, "norms", (size_t)steps, (size_t)i,
                         (double)optimizer_clip(model, TP_CLIP));
        optimizer_step(optimizer, TP_RATE);
        model_zero_grad(model);
    }
    rank_give_weights(run, "new", model, 0);
    optimizer_free(optimizer);
    slice_run_close(&slice);
}

static void steps(const Wire *in, Wire *out) {
    ranks_run(in, out, steps_rank);
}

/* ---- numbers about all gradients ------------------------------------------------------------- */

static void norm(const Wire *in, Wire *out) {
    ranks_run(in, out, all_norm_rank);
}

static void overflow(const Wire *in, Wire *out) {
    ranks_run(in, out, all_overflow_rank);
}

const ProbeCase probe_cases[] = {
    {"vocab", vocab}, {"cut", cut},           {"join", join},     {"linear", linear},
    {"embed", embed}, {"head", head},         {"passes", passes}, {"steps", steps},
    {"norm", norm},   {"overflow", overflow}, {NULL, NULL},
};
