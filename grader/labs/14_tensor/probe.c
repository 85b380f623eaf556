/* Lab 14 in the probe: slices, a layer, embedding, head, passes, on ranks of one process. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/14_tensor/part_names.h"
#include "grader/labs/14_tensor/protocol.h"
#include "grader/probe.h"
#include "grader/rank_heap.h"
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

/* ---- a rank's slice of a model --------------------------------------------------------------- */

static const float *given_of_rank(const RankRun *run, const char *what, size_t *n) {
    char name[WIRE_NAME];
    return wire_get(run->in, rank_name(name, what, run->rank, "window", 0), WIRE_F32, n);
}

static void open_slice(SliceRun *slice, RankRun *run) {
    ModelConfig config = probe_config(run->in);
    const int32_t *rows = wire_get(run->in, "rows", WIRE_I32, NULL);
    ModelPart part = model_whole(&config);
    part.shards = run->ranks;
    part.shard = run->rank;
    part.vocab_first = rows[2 * run->rank];
    part.vocab_rows = rows[2 * run->rank + 1];
    *slice =
        (SliceRun){.run = run, .group = {.comm = run->comm, .size = run->ranks, .rank = run->rank}};
    if (run->device->host_memory) { /* where ops are in no stream, collectives may be in any */
        cudaError_t opened = cudaStreamCreate(&slice->group.stream);
        CHECK(opened == cudaSuccess, "%s", cudaGetErrorString(opened));
    }
    Model *model = slice->model = model_new_part(&config, &part, run->memory, 1);
    const float *weights = given_of_rank(run, "weights", NULL);
    const float *before = given_of_rank(run, "before", NULL);
    for (int i = 0; i < model->param_count; i++) {
        Param *param = &model->params[i];
        model_upload_weight(model, param, weights);
        device_upload(run->device, param->grad, before, param->count * sizeof *before);
        weights += param->count;
        before += param->count;
    }
    model->split = &slice->group;
    model->linear_forward = tp_forward;
    model->linear_backward = tp_backward;
    model->embed_forward = tp_embed_forward;
    model->embed_backward = tp_embed_backward;
    model->head_forward = tp_head_forward;
    model->head_backward = tp_head_backward;
    model->grad_norm = slice_norm;
}

static void close_slice(SliceRun *slice) {
    device_synchronize(slice->run->device);
    model_free(slice->model);
    if (slice->group.stream != NULL) {
        cudaStreamDestroy(slice->group.stream);
    }
}

/* ---- tensors in the storage type ------------------------------------------------------------- */

/* A given tensor, on the device, in the storage type; with room for n numbers where it is zero. */
static Real *slice_real(const SliceRun *slice, const char *what) {
    size_t n;
    const Model *model = slice->model;
    const float *values = given_of_rank(slice->run, what, &n);
    Real *to = memory_alloc(model->memory, MEMORY_ACTIVATIONS, what, -1,
                            n * precision_bytes(model->config.precision));
    if (model->config.precision == F32) {
        device_upload(model->device, to, values, n * sizeof *values);
        return to;
    }
    float *floats = memory_alloc(model->memory, MEMORY_ACTIVATIONS, what, -1, n * sizeof *floats);
    device_upload(model->device, floats, values, n * sizeof *values);
    model->ops->cast_from_float(to, floats, n);
    return to;
}

static void give_real(const SliceRun *slice, const char *what, const Real *from) {
    char name[WIRE_NAME];
    size_t n;
    const Model *model = slice->model;
    wire_get(slice->run->out, rank_name(name, what, slice->run->rank, "window", 0), WIRE_F32, &n);
    if (model->config.precision == F32) {
        rank_give(slice->run, what, 0, (const float *)from, n);
        return;
    }
    float *floats = memory_alloc(model->memory, MEMORY_ACTIVATIONS, what, -1, n * sizeof *floats);
    model->ops->cast_to_float(floats, from, n);
    rank_give(slice->run, what, 0, floats, n);
}

static void give_grad(const SliceRun *slice, const char *what, const Param *param) {
    rank_give(slice->run, what, 0, param->grad, param->count);
}

static Real *real_room(const SliceRun *slice, size_t n) {
    return memory_alloc_zero(slice->model->memory, MEMORY_ACTIVATIONS, "room", -1,
                             n * precision_bytes(slice->model->config.precision));
}

/* ---- one layer ------------------------------------------------------------------------------- */

static void linear_rank(RankRun *run) {
    SliceRun slice;
    open_slice(&slice, run);
    Model *model = slice.model;
    int layer = run->option[TP_LAYER];
    LinearId id = (LinearId)run->option[TP_ID];
    int32_t ids[1024] = {0};
    Batch batch = {.B = run->option[TP_B], .T = run->option[TP_T], .tokens = ids, .targets = ids};
    model_begin(model, &batch, true);
    Linear linear = linear_of(&model->pass, layer, id);
    Real *x = slice_real(&slice, "x"), *dout = slice_real(&slice, "dout");
    Real *out = real_room(&slice, (size_t)linear.N * (size_t)linear.OC);
    Real *din = real_room(&slice, (size_t)linear.N * (size_t)linear.IC);
    tp_forward(&linear, out, x);
    give_real(&slice, "out", out);
    if (run->option[TP_BACKWARD]) {
        const Param *weight = model_block_params(model, layer) + linear_weight(id);
        tp_backward(&linear, din, dout, x);
        give_real(&slice, "din", din);
        give_grad(&slice, "dweight", weight);
        give_grad(&slice, "dbias", weight + 1);
    }
    model_end(model);
    close_slice(&slice);
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
    open_slice(&slice, run);
    Model *model = slice.model;
    Batch batch = given_batch(run->in, 0);
    model_begin(model, &batch, true);
    size_t n = (size_t)batch.B * (size_t)batch.T * (size_t)model->config.C;
    if (run->option[TP_BACKWARD]) {
        Real *dx = slice_real(&slice, "dout");
        model->ops->axpby(model->pass.dx, dx, n, 1, 0); /* dx is copied */
        embed_backward_with_rows(model, run->rank);
        give_grad(&slice, "dwte", &model->base[WTE]);
        give_grad(&slice, "dwpe", &model->base[WPE]);
    } else {
        Real *x = real_room(&slice, n);
        tp_embed_forward(&model->pass, x);
        give_real(&slice, "out", x);
    }
    model_end(model);
    close_slice(&slice);
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
    open_slice(&slice, run);
    Model *model = slice.model;
    put_ends(model);
    Batch batch = given_batch(run->in, 0);
    model_begin(model, &batch, true);
    Real *x = slice_real(&slice, "x");
    double loss = model_head_forward(model, x);
    rank_give_double(run, "loss", 1, 0, loss);
    rank_give_double(run, "sum", 1, 0, pass_losses(&model->pass));
    rank_give(run, "losses", 0, model->pass.head.losses, (size_t)batch.B * (size_t)batch.T);
    if (run->option[TP_BACKWARD]) {
        const float *share = wire_get(run->in, "share", WIRE_F32, NULL);
        model_head_backward(model, x, *share);
        give_real(&slice, "dx", model->pass.dx);
        give_grad(&slice, "dwte", &model->base[WTE]);
        give_grad(&slice, "dlnf", &model->base[LNF_WEIGHT]);
    }
    model_end(model);
    close_slice(&slice);
}

static void head(const Wire *in, Wire *out) {
    ranks_run(in, out, head_rank);
}

/* ---- whole passes ---------------------------------------------------------------------------- */

/* Passes over all batches that are given; gradients, bytes; with TP_EVALUATE the loss of the first
   one once more, as an evaluation gives it. */
static void passes_rank(RankRun *run) {
    SliceRun slice;
    open_slice(&slice, run);
    if (run->option[TP_NAMES]) {
        look_at_names(slice.model);
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
    close_slice(&slice);
}

static void passes(const Wire *in, Wire *out) {
    ranks_run(in, out, passes_rank);
}

/* Updates, each after a clip to the given norm. Blocks run again: their layers once more. */
static void steps_rank(RankRun *run) {
    SliceRun slice;
    open_slice(&slice, run);
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
    close_slice(&slice);
}

static void steps(const Wire *in, Wire *out) {
    ranks_run(in, out, steps_rank);
}

/* ---- numbers about all gradients ------------------------------------------------------------- */

/* The norm of a model of one block comes first: nothing of it may be left. */
static void norm_before(SliceRun *slice) {
    const RankRun *run = slice->run;
    MemoryMark mark = memory_mark(run->memory);
    ModelConfig config = slice->model->config;
    ModelPart part = slice->model->part;
    config.L = part.last = 1;
    Model *model = model_new_part(&config, &part, run->memory, 1);
    model->split = &slice->group;
    slice_norm(model);
    model_free(model);
    memory_release(run->memory, mark);
}

static void norm_rank(RankRun *run) {
    SliceRun slice;
    open_slice(&slice, run);
    norm_before(&slice);
    MemoryUse before = memory_now(run->memory);
    float norm = model_grad_norm(slice.model);
    for (int i = 2; i < TP_NORMS; i++) {
        model_grad_norm(slice.model);
    }
    MemoryUse after = memory_now(run->memory);
    rank_give_number(run, "left", 1, 0, memory_total(&after) - memory_total(&before));
    char name[WIRE_NAME];
    float *to = wire_get(run->out, rank_name(name, "norm", run->rank, "window", 0), WIRE_F32, NULL);
    *to = norm;
    rank_give_gradients(run, "gradients", slice.model, 0);
    close_slice(&slice);
}

static void norm(const Wire *in, Wire *out) {
    ranks_run(in, out, norm_rank);
}

static uint64_t outcome(const SliceRun *slice, const float *before) {
    const Model *model = slice->model;
    bool finite = true, same = true;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        float *now = malloc(param->count * sizeof *now);
        CHECK(now != NULL, "no host memory for %zu floats", param->count);
        device_download(model->device, now, param->grad, param->count * sizeof *now);
        for (size_t j = 0; j < param->count; j++) {
            finite = finite && isfinite(now[j]);
        }
        same = same && memcmp(now, before, param->count * sizeof *now) == 0;
        before += param->count;
        free(now);
    }
    return !finite ? OVERFLOW_FOUND : same ? OVERFLOW_NONE : OVERFLOW_CHANGED;
}

/* Bytes of tensors and of malloc() that a rank has. */
static size_t bytes_held(const RankRun *run) {
    MemoryUse use = memory_now(run->memory);
    return memory_total(&use) + rank_heap_used();
}

/* Case after case: "cases" (n, 3): whose gradient, which parameter, and what is put into it. "left"
   are the bytes that all calls but the first have left. */
static void overflow_rank(RankRun *run) {
    SliceRun slice;
    size_t count, P, held = 0;
    const float *cases = wire_get(run->in, "cases", WIRE_F32, &count);
    const float *given = given_of_rank(run, "before", &P);
    float *before = malloc(P * sizeof *before);
    CHECK(before != NULL, "no host memory for %zu floats", P);
    open_slice(&slice, run);
    Model *model = slice.model;
    for (size_t i = 0; i < count / 3; i++, cases += 3) {
        float *from = before;
        memcpy(before, given, P * sizeof *before);
        for (int k = 0; k < model->param_count; k++) {
            const Param *param = &model->params[k];
            if ((int)cases[0] == run->rank && (int)cases[1] == k) {
                from[param->count - 1] = cases[2];
            }
            device_upload(run->device, param->grad, from, param->count * sizeof *from);
            from += param->count;
        }
        slice_share_overflow(model);
        held = i == 0 ? bytes_held(run) : held;
        rank_give_number(run, "overflow", count / 3, i, outcome(&slice, before));
    }
    rank_give_number(run, "left", 1, 0, bytes_held(run) - held);
    free(before);
    close_slice(&slice);
}

static void overflow(const Wire *in, Wire *out) {
    ranks_run(in, out, overflow_rank);
}

const ProbeCase probe_cases[] = {
    {"vocab", vocab}, {"cut", cut},           {"join", join},     {"linear", linear},
    {"embed", embed}, {"head", head},         {"passes", passes}, {"steps", steps},
    {"norm", norm},   {"overflow", overflow}, {NULL, NULL},
};
