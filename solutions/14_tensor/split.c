/* Lab 14: slices of parameters, and numbers about all of them. The contract is
   in labs/14_tensor/contract.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/lab.h"
#include "labs/14_tensor/contract.h"

VocabRows slice_vocab(int V, int ranks, int rank) {
#ifndef STUB
    int rows = V / ranks, more = V % ranks;
    return (VocabRows){.first = rank * rows + (rank < more ? rank : more),
                       .count = rows + (rank < more)};
#else
    (void)V, (void)ranks, (void)rank;
    TODO("task 1: the rows of a rank (about 3 lines)");
#endif
}

#ifndef STUB
/* A slice in the whole: of each group of rows some rows, and of these some columns. A vector counts
   as a column. */
typedef struct ParamSlice {
    int groups, group_rows, cols; /* of the whole */
    int first_row, rows;          /* of each group */
    int first_col, slice_cols;
} ParamSlice;

static ParamSlice slice_of(const ModelConfig *config, int at, int ranks, int rank) {
    int C = config->C, share = C / ranks, id = (at - MODEL_PARAMS) % BLOCK_PARAMS;
    if (at == WTE) {
        VocabRows rows = slice_vocab(config->V, ranks, rank);
        return (ParamSlice){1, config->V, C, rows.first, rows.count, 0, C};
    }
    if (at == WPE) {
        return (ParamSlice){1, config->T, C, 0, config->T, 0, C};
    }
    if (at < MODEL_PARAMS) {
        return (ParamSlice){1, C, 1, 0, C, 0, 1};
    }
    switch ((BlockParamId)id) {
    case QKV_WEIGHT:
        return (ParamSlice){3, C, C, rank * share, share, 0, C};
    case QKV_BIAS:
        return (ParamSlice){3, C, 1, rank * share, share, 0, 1};
    case FC_WEIGHT:
        return (ParamSlice){1, 4 * C, C, rank * 4 * share, 4 * share, 0, C};
    case FC_BIAS:
        return (ParamSlice){1, 4 * C, 1, rank * 4 * share, 4 * share, 0, 1};
    case PROJ_WEIGHT:
        return (ParamSlice){1, C, C, 0, C, rank * share, share};
    case FCPROJ_WEIGHT:
        return (ParamSlice){1, C, 4 * C, 0, C, rank * 4 * share, 4 * share};
    default:
        return (ParamSlice){1, C, 1, 0, C, 0, 1};
    }
}

/* Row i of a slice in the whole. */
static size_t row_in_whole(const ParamSlice *s, int i) {
    int row = i / s->rows * s->group_rows + s->first_row + i % s->rows;
    return (size_t)row * (size_t)s->cols + (size_t)s->first_col;
}
#endif

void slice_cut(float *slice, const float *whole, const ModelConfig *config, int at, int ranks,
               int rank) {
#ifndef STUB
    ParamSlice s = slice_of(config, at, ranks, rank);
    size_t cols = (size_t)s.slice_cols;
    for (int i = 0; i < s.groups * s.rows; i++) {
        memcpy(slice + (size_t)i * cols, whole + row_in_whole(&s, i), cols * sizeof *slice);
    }
#else
    (void)slice, (void)whole, (void)config, (void)at, (void)ranks, (void)rank;
    TODO("task 1: the numbers of a rank, out of the whole (about 40 lines, with what both ways "
         "share)");
#endif
}

void slice_join(float *whole, const float *slice, const ModelConfig *config, int at, int ranks,
                int rank) {
#ifndef STUB
    ParamSlice s = slice_of(config, at, ranks, rank);
    size_t cols = (size_t)s.slice_cols;
    for (int i = 0; i < s.groups * s.rows; i++) {
        memcpy(whole + row_in_whole(&s, i), slice + (size_t)i * cols, cols * sizeof *slice);
    }
#else
    (void)whole, (void)slice, (void)config, (void)at, (void)ranks, (void)rank;
    TODO("task 1: and back to their places (about 5 lines)");
#endif
}

/* ---- about all gradients --------------------------------------------------------------------- */

/* One float that lies on the device, from all ranks, on the host. */
static float reduced(Model *model, float *number, ncclRedOp_t op) {
#ifndef STUB
    const TensorGroup *group = tensor_group(model);
    float result;
    ncclResult_t sent = ncclAllReduce(number, number, 1, ncclFloat, op, group->comm, group->stream);
    CHECK(sent == ncclSuccess, "%s", ncclGetErrorString(sent));
    if (model->device->host_memory) {
        cudaStreamSynchronize(group->stream);
    }
    device_download(model->device, &result, number, sizeof result);
    return result;
#else
    (void)model, (void)number, (void)op;
    TODO("task 3: an all-reduce of one float, wait for it on the CPU, download it (about 9 lines)");
#endif
}

#ifndef STUB
/* Whether a rank has a part of the parameter, and not all of it. */
static bool is_split(int at) {
    static const bool of_block[BLOCK_PARAMS] = {
        [QKV_WEIGHT] = true, [QKV_BIAS] = true, [PROJ_WEIGHT] = true,
        [FC_WEIGHT] = true,  [FC_BIAS] = true,  [FCPROJ_WEIGHT] = true};
    return at == WTE || (at >= MODEL_PARAMS && of_block[(at - MODEL_PARAMS) % BLOCK_PARAMS]);
}
#endif

float slice_norm(Model *model) {
#ifndef STUB
    float **grads = calloc((size_t)model->param_count, sizeof *grads);
    CHECK(grads != NULL, "no memory for %d pointers", model->param_count);
    bool first = tensor_group(model)->rank == 0;
    for (int i = 0; i < model->param_count; i++) {
        grads[i] = first || is_split(i) ? model->params[i].grad : NULL;
    }
    MemoryMark mark = memory_mark(model->memory);
    void *entries = memory_alloc(model->memory, MEMORY_WORKSPACE, "list.split", -1,
                                 workspace_list_bytes(&model->config));
    TensorList list = model_list(model, grads, entries);
    free(grads);
    device_fill(model->device, model->result, 0, sizeof *model->result);
    model->ops->sumsq(model->result, list, &model->workspace);
    memory_release(model->memory, mark);
    return sqrtf(reduced(model, model->result, ncclSum));
#else
    (void)model, (void)reduced, (void)sqrtf;
    TODO("task 3: the norm of the whole model's gradients (about 14 lines)");
#endif
}

void slice_share_overflow(Model *model) {
#ifndef STUB
    device_fill(model->device, model->result, 0, sizeof *model->result);
    const Param *param = model->params;
    for (int i = 0; i < model->param_count; i++, param++) {
        model->ops->unscale(param->grad, param->count, 1, model->result);
    }
    if (reduced(model, model->result, ncclMax) != 0) {
        float infinite = INFINITY;
        device_upload(model->device, model->params[WTE].grad, &infinite, sizeof infinite);
    }
#else
    (void)model, (void)reduced;
    TODO("task 3: an overflow of one rank is one of all (about 9 lines)");
#endif
}
