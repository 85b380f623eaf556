/* Lab 12: states and gradients in parts. The contracts are in labs/12_zero/contract.h. */
#include <math.h>
#include <stdlib.h>

#include "common/lab.h"
#include "labs/05_fp16/contract.h"
#include "labs/12_zero/contract.h"

#define EXPECT(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))
#define EXPECT_NCCL(call)                                                                          \
    do {                                                                                           \
        ncclResult_t result_ = (call);                                                             \
        CHECK(result_ == ncclSuccess, "%s", ncclGetErrorString(result_));                          \
    } while (0)

void zero_settle(const Zero *zero) {
    if (zero->model->device->host_memory) {
        EXPECT(cudaStreamSynchronize(zero->stream));
    }
}

ncclDataType_t zero_type(Precision precision) {
    return precision == F32 ? ncclFloat : precision == F16 ? ncclHalf : ncclBfloat16;
}

/* Number i of an array in storage precision. */
static Real *real_at(const Zero *zero, Real *array, size_t i) {
    return (Real *)((char *)array + i * precision_bytes(zero->model->config.precision));
}

/* ---- units ----------------------------------------------------------------------------------- */

/* The parameters of a unit, and how many. */
static Param *params_of(const Zero *zero, int unit, int *count) {
    *count = unit == 0 ? MODEL_PARAMS : BLOCK_PARAMS;
    return unit == 0 ? zero->model->base : model_block_params(zero->model, unit - 1);
}

/* Puts a whole unit of gradients into the model; NULL takes it out. */
static void put_grads(Zero *zero, int unit, float *grads) {
    float *each[BLOCK_PARAMS];
    int count;
    const Param *params = params_of(zero, unit, &count);
    for (int i = 0; grads != NULL && i < count; i++) {
        each[i] = i == 0 ? grads : each[i - 1] + tensor_indices(params[i - 1].count);
    }
    zero->unit[unit].grads = grads;
    model_put_grads(zero->model, unit - 1, grads != NULL ? each : NULL);
}

void zero_put_weights(Zero *zero, int unit, Real *weights) {
    Real *each[BLOCK_PARAMS];
    int count;
    const Param *params = params_of(zero, unit, &count);
    size_t begin = 0;
    for (int i = 0; weights != NULL && i < count; i++) {
        each[i] = real_at(zero, weights, begin);
        begin += tensor_indices(params[i].count);
    }
    zero->unit[unit].weights = weights;
    model_put_weights(zero->model, unit - 1, weights != NULL ? each : NULL);
}

/* Memory of a unit that stays: `whole`, or this rank's part. */
static void *alloc_unit(const Zero *zero, MemoryKind kind, int unit, bool whole, size_t element) {
    size_t numbers = zero->unit[unit].part * (whole ? (size_t)zero->ranks : 1);
    return memory_alloc_zero(zero->model->memory, kind, whole ? "unit" : "part", unit - 1,
                             numbers * element);
}

static void open_unit(Zero *zero, int unit) {
    ZeroUnit *u = &zero->unit[unit];
    int count;
    const Param *params = params_of(zero, unit, &count);
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        length += tensor_indices(params[i].count);
    }
    u->part = shard_part(length, zero->ranks);
    u->at = zero->length;
    zero->length += u->part;
    (void)alloc_unit, (void)put_grads;
    TODO("task 3: memory for weights and gradients, whole or this rank's part (about 10 lines)");
}

/* ---- open and close -------------------------------------------------------------------------- */

/* This rank's pieces of all tensors: a model that the optimizer can update. */
static void open_pieces(Zero *zero) {
    size_t count = (size_t)zero->model->param_count;
    Piece *pieces = calloc(count, sizeof *pieces), *piece = pieces;
    Real **weights = calloc(count, sizeof *weights), **weight = weights;
    float **grads = calloc(count, sizeof *grads), **grad = grads;
    CHECK(pieces && weights && grads, "no memory for %zu pieces", count);
    for (int unit = 0; unit <= zero->model->config.L; unit++) {
        const ZeroUnit *u = &zero->unit[unit];
        int tensors;
        const Param *params = params_of(zero, unit, &tensors);
        size_t begin = 0;
        for (int i = 0; i < tensors; i++, piece++) {
            *piece = shard_piece(begin, params[i].count, u->part, zero->rank);
            *weight++ = real_at(zero, u->my_weights, piece->at);
            *grad++ = u->my_grads + piece->at;
            piece->at += u->at;
            begin += tensor_indices(params[i].count);
        }
    }
    zero->shard = pieces_new(zero->model, pieces, zero->length, weights, grads);
    free(pieces);
    free(weights);
    free(grads);
}

Zero *zero_open(Model *model, int stage, ncclComm_t comm, cudaStream_t stream) {
    CHECK(1 <= stage && stage <= 3, "stage %d", stage);
    Zero *zero = calloc(1, sizeof *zero);
    size_t units = (size_t)model->config.L + 1;
    CHECK(zero != NULL, "no memory for a few bytes");
    *zero = (Zero){.stage = stage, .comm = comm, .stream = stream, .model = model};
    zero->unit = calloc(units, sizeof *zero->unit);
    CHECK(zero->unit != NULL, "no memory for %zu units", units);
    EXPECT_NCCL(ncclCommUserRank(comm, &zero->rank));
    EXPECT_NCCL(ncclCommCount(comm, &zero->ranks));
    zero->weights = memory_lane(model->memory, "gathered weights");
    zero->grads = memory_lane(model->memory, "whole gradients");
    for (int unit = 0; unit < (int)units; unit++) {
        open_unit(zero, unit);
    }
    open_pieces(zero);
    size_t sums = zero->length / TENSOR_BLOCK * (size_t)zero->ranks;
    zero->norm =
        memory_alloc(model->memory, MEMORY_WORKSPACE, "zero.norm", -1, sums * sizeof(double));
    model->enter = zero_enter;
    model->leave = zero_leave;
    model->parts_context = zero;
    zero->shard->grad_norm = zero_norm;
    zero->shard->norm_context = zero;
    return zero;
}

void zero_close(Zero *zero) {
    if (zero != NULL) {
        zero_ahead_close(zero);
        zero->model->enter = zero->model->leave = NULL;
        zero->model->pieces = NULL;
        pieces_free(zero->shard);
        free(zero->unit);
        free(zero);
    }
}

/* ---- gradients ------------------------------------------------------------------------------- */

void zero_reduce(Zero *zero, int unit) {
    const ZeroUnit *u = &zero->unit[unit];
    (void)u;
    TODO("task 3: this rank's part of the sum, in place (about 4 lines)");
    if (zero->stage > 1) {
        TODO("task 4: and it is added to what the micro-batches before have left (about 3 lines)");
    }
}

/* Stage 2: a unit's gradients are whole while backward adds to them. */
static void grads_come(Zero *zero, int unit) {
    ZeroUnit *u = &zero->unit[unit];
    u->grads_mark = memory_mark(zero->grads);
    TODO("task 4: memory in zero->grads, zero, put into the model (about 3 lines)");
}

static void grads_go(Zero *zero, int unit) {
    const ZeroUnit *u = &zero->unit[unit];
    (void)u;
    TODO("task 4: summed, taken out of the model, released (about 3 lines)");
}

/* ---- the parts of a pass --------------------------------------------------------------------- */

void zero_enter(void *context, int layer, bool backward) {
    Zero *zero = context;
    int L = zero->model->config.L, unit = layer < L ? layer + 1 : 0;
    bool embedding = layer < 0, head = layer == L;
    if (zero->stage == 3 && !(backward && (embedding || head))) {
        if (zero->ahead != NULL) {
            zero_ahead_come(zero, unit);
        } else {
            zero_weights_come(zero, unit);
        }
    }
    if (zero->ahead != NULL) {
        zero_ahead_next(zero, layer, backward);
    }
    if (zero->stage >= 2 && backward && !embedding) {
        grads_come(zero, unit);
    }
}

void zero_leave(void *context, int layer, bool backward) {
    Zero *zero = context;
    int L = zero->model->config.L, unit = layer < L ? layer + 1 : 0;
    bool embedding = layer < 0, head = layer == L;
    bool stays = head && !backward && zero->model->newest->train; /* for the head's backward */
    if (zero->stage == 3 && !stays && !(embedding && backward)) {
        zero_weights_go(zero, unit);
    }
    if (zero->stage >= 2 && backward && !head) {
        grads_go(zero, unit);
    }
}

/* ---- the end of a window --------------------------------------------------------------------- */

float zero_norm(Model *shard) {
    const Zero *zero = shard->norm_context;
    size_t mine = zero->length / TENSOR_BLOCK, all = mine * (size_t)zero->ranks;
    double *sums = malloc(all * sizeof *sums), total = 0;
    CHECK(sums != NULL, "no host memory for %zu sums", all);
    /* what sumsq adds up by itself is of this rank alone; its partial sums are what is wanted */
    device_fill(shard->device, shard->result, 0, sizeof(float));
    shard->ops->sumsq(shard->result, shard->grads, &shard->workspace);
    TODO("task 3: the partial sums of all ranks, added in the order of the units (about 10 lines)");
    free(sums);
    return sqrtf((float)total);
}

/* Takes the loss scale back from this rank's gradients. @return whether one of any rank's is not
   finite */
static bool unscale(const Zero *zero, float scale) {
    Model *shard = zero->shard;
    float found = 0;
    device_fill(shard->device, shard->result, 0, sizeof found);
    (void)scale;
    TODO("task 3: unscale the pieces, and ask all ranks what they have found (about 7 lines)");
    device_download(shard->device, &found, shard->result, sizeof found);
    return found != 0;
}

/* The masters of this rank's pieces, rounded, into the weights. */
static void write_weights(const Optimizer *optimizer) {
    const Model *shard = optimizer->model;
    for (int i = 0; optimizer->master != NULL && i < shard->param_count; i++) {
        const Param *param = &shard->params[i];
        shard->ops->cast_from_float(param->weight, optimizer->master[i], param->count);
    }
}

/* Every rank has updated its part: now each gets those of the others. */
static void share_weights(const Zero *zero) {
    (void)zero;
    TODO("task 3: gather the weights of every unit, in place (about 6 lines)");
}

static void zero_grads(const Zero *zero) {
    for (int unit = 0; unit <= zero->model->config.L; unit++) {
        const ZeroUnit *u = &zero->unit[unit];
        (void)u;
        TODO("task 3: what the next window adds to is zero (about 3 lines)");
    }
}

void zero_update(Trainer *trainer, StepReport *report) {
    Zero *zero = trainer->zero;
    Mixed *mixed = trainer->mixed;
    for (int unit = 0; zero->stage == 1 && unit <= zero->model->config.L; unit++) {
        zero_reduce(zero, unit);
    }
    report->skipped = mixed != NULL && unscale(zero, mixed->scaler.scale);
    report->grad_norm = optimizer_clip(zero->shard, trainer->max_grad_norm);
    report->learning_rate = schedule_rate(&trainer->schedule);
    (void)write_weights, (void)share_weights;
    TODO("task 3: update this rank's pieces, unless skipped, and share them (about 7 lines)");
    zero_grads(zero);
    if (mixed != NULL && mixed->dynamic) {
        scaler_update(&mixed->scaler, report->skipped);
    }
}
