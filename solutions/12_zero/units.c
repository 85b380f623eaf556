/* Lab 12: what a unit is made of, and when it comes and goes. This file is given. The contracts are
   in labs/12_zero/contract.h. */
#include <stdlib.h>

#include "common/lab.h"
#include "labs/12_zero/contract.h"

#define EXPECT(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))
#define EXPECT_NCCL(call) CHECK((call) == ncclSuccess, "NCCL: %s", ncclGetLastError(NULL))

void zero_settle(const Zero *zero) {
    if (zero->model->device->host_memory) {
        EXPECT(cudaStreamSynchronize(zero->stream));
    }
}

ncclDataType_t zero_type(Precision precision) {
    return precision == F32 ? ncclFloat : precision == F16 ? ncclHalf : ncclBfloat16;
}

Real *zero_at(const Zero *zero, Real *array, size_t i) {
    return (Real *)((char *)array + i * precision_bytes(zero->model->config.precision));
}

/* ---- units ----------------------------------------------------------------------------------- */

/* The parameters of a unit, and how many. */
static Param *params_of(const Zero *zero, int unit, int *count) {
    *count = unit == 0 ? MODEL_PARAMS : BLOCK_PARAMS;
    return unit == 0 ? zero->model->base : model_block_params(zero->model, unit - 1);
}

void zero_put_weights(Zero *zero, int unit, Real *weights) {
    Real *each[BLOCK_PARAMS];
    int count;
    const Param *params = params_of(zero, unit, &count);
    size_t begin = 0;
    for (int i = 0; weights != NULL && i < count; i++) {
        each[i] = zero_at(zero, weights, begin);
        begin += tensor_indices(params[i].count);
    }
    zero->unit[unit].weights = weights;
    model_put_weights(zero->model, unit - 1, weights != NULL ? each : NULL);
}

void zero_put_grads(Zero *zero, int unit, float *grads) {
    float *each[BLOCK_PARAMS];
    int count;
    const Param *params = params_of(zero, unit, &count);
    for (int i = 0; grads != NULL && i < count; i++) {
        each[i] = i == 0 ? grads : each[i - 1] + tensor_indices(params[i - 1].count);
    }
    zero->unit[unit].grads = grads;
    model_put_grads(zero->model, unit - 1, grads != NULL ? each : NULL);
}

void *zero_alloc(const Zero *zero, MemoryKind kind, int unit, bool whole, size_t element) {
    size_t numbers = zero->unit[unit].part * (whole ? (size_t)zero->ranks : 1);
    return memory_alloc_zero(zero->model->memory, kind, whole ? "unit" : "part", unit - 1,
                             numbers * element);
}

/* ---- open and close -------------------------------------------------------------------------- */

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
    zero_memory(zero, unit);
}

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
            *weight++ = zero_at(zero, u->my_weights, piece->at);
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
        zero_grads_come(zero, unit);
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
        zero_grads_go(zero, unit);
    }
}
