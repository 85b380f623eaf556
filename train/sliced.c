/* Optimizers of lab 07 on slices. The contract is in sliced.h. */
#include "train/sliced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rules.h"

enum { WEIGHT, ROW, COL, GRAD, ENTRIES };

/* ---- one tensor ------------------------------------------------------------------------------ */

/* A tensor of a slice, and its states. */
typedef struct SlicedTensor {
    const SlicedFactors *factors;
    Model *model;
    const Param *param, *whole;
    TensorEntry entry[ENTRIES]; /* host memory; the rule's op reads a copy */
} SlicedTensor;

static TensorEntry state_of(const Optimizer *optimizer, const char *name, int param) {
    for (int i = 0; i < optimizer->state_count; i++) {
        const OptimizerState *state = &optimizer->states[i];
        if (state->param == param && strcmp(state->name, name) == 0) {
            return (TensorEntry){.data = state->data, .n = state->count};
        }
    }
    return (TensorEntry){0};
}

static SlicedTensor tensor_of(const Optimizer *optimizer, int i) {
    const SlicedFactors *factors = optimizer->rule.context;
    const Param *param = &optimizer->model->params[i];
    float *weight =
        optimizer->master != NULL ? optimizer->master[i] : (float *)(void *)param->weight;
    return (SlicedTensor){
        .factors = factors,
        .model = optimizer->model,
        .param = param,
        .whole = &factors->whole->params[i],
        .entry = {[WEIGHT] = {.data = weight, .n = param->count, .decays = param_is_matrix(param)},
                  [ROW] = state_of(optimizer, "row", i),
                  [COL] = state_of(optimizer, "col", i),
                  [GRAD] = {.data = param->grad, .n = param->count}}};
}

/* A list of one tensor. */
static TensorList list_of(const SlicedTensor *x, int which) {
    size_t n = x->entry[which].n;
    return (TensorList){x->factors->entries + which, 1, n, tensor_indices(n)};
}

/* The op of lab 07 on this tensor alone. */
static void call(const SlicedTensor *x, Adafactor numbers, int t) {
    Model *model = x->model;
    device_upload(model->device, x->factors->entries, x->entry, sizeof x->entry);
    model->ops->adafactor(list_of(x, WEIGHT), list_of(x, ROW), list_of(x, COL), list_of(x, GRAD),
                          numbers, t, &model->workspace);
}

/* ---- sums over the group --------------------------------------------------------------------- */

static void sum_all(const SlicedTensor *x, float *data, size_t count) {
    const TensorGroup *group = x->factors->group;
    cudaStream_t stream = group->stream;
    CHECK(ncclAllReduce(data, data, count, ncclFloat, ncclSum, group->comm, stream) == ncclSuccess,
          "%zu numbers are not summed over %d ranks", count, group->size);
    if (x->model->device->host_memory) {
        cudaStreamSynchronize(stream);
    }
}

static double sum_number(const SlicedTensor *x, double number) {
    Model *model = x->model;
    float sum = (float)number;
    device_upload(model->device, model->result, &sum, sizeof sum);
    sum_all(x, model->result, 1);
    device_download(model->device, &sum, model->result, sizeof sum);
    return (double)sum;
}

static bool cut_by_rows(const SlicedTensor *x) {
    return param_is_matrix(x->param) && x->param->rows < x->whole->rows;
}

static bool cut_by_columns(const SlicedTensor *x) {
    return param_is_matrix(x->param) && x->param->cols < x->whole->cols;
}

static bool is_cut(const SlicedTensor *x) {
    return x->param->count < x->whole->count;
}

/* The mean of whole rows or columns, from those of all slices. */
static void share_means(const SlicedTensor *x) {
    int which = cut_by_rows(x) ? COL : ROW;
    if (cut_by_rows(x) || cut_by_columns(x)) {
        double part = (double)x->param->count / (double)x->whole->count;
        x->model->ops->scale(list_of(x, which), (float)part);
        sum_all(x, x->entry[which].data, x->entry[which].n);
    }
}

/* The op's mean(R): that of the rows that are here. */
static double mean_here(const SlicedTensor *x) {
    size_t n = x->entry[ROW].n;
    double sum = 0;
    float *R = malloc(n * sizeof *R);
    CHECK(R != NULL, "no host memory for %zu floats", n);
    device_download(x->model->device, R, x->entry[ROW].data, n * sizeof *R);
    for (size_t i = 0; i < n; i++) {
        sum += (double)R[i];
    }
    free(R);
    return sum / (double)n;
}

/* U of the whole tensor over that which the op makes of a slice. */
static double ratio(const SlicedTensor *x) {
    if (!cut_by_rows(x)) {
        return 1;
    }
    double here = mean_here(x), part = (double)x->param->rows / x->whole->rows;
    return sqrt(sum_number(x, here * part) / here);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static double squares_of(const SlicedTensor *x) {
    Model *model = x->model;
    float squares;
    device_fill(model->device, model->result, 0, sizeof squares);
    model->ops->sumsq(model->result, list_of(x, WEIGHT), &model->workspace);
    device_download(model->device, &squares, model->result, sizeof squares);
    return (double)squares;
}

/* Weights take -U, which is in `update`: w = (1 - decay) w + rate (-U). */
static void take(const SlicedTensor *x, Adafactor numbers, double rate) {
    Model *model = x->model;
    float decay = x->entry[WEIGHT].decays ? numbers.learning_rate * numbers.weight_decay : 0;
    model->device->ops[F32].axpby((Real *)(void *)x->entry[WEIGHT].data,
                                  (const Real *)(const void *)x->factors->update, x->param->count,
                                  (float)rate, 1 - decay);
}

static void step_cut(const SlicedTensor *x, Adafactor numbers, int t) {
    const Adafactor means = {.epsilon = numbers.epsilon, .clip = 1, .power = numbers.power};
    /* after step 1, beta2 = 1 - t^-inf = 1: R and C stay. Nothing is clipped */
    const Adafactor updates = {
        .learning_rate = 1, .epsilon = numbers.epsilon, .clip = INFINITY, .power = INFINITY};
    SlicedTensor scratch = *x;
    scratch.entry[WEIGHT] = (TensorEntry){.data = x->factors->update, .n = x->param->count};
    device_fill(x->model->device, x->factors->update, 0, x->param->count * sizeof(float));
    call(&scratch, means, t);
    share_means(x);
    call(&scratch, updates, 2);
    double more = ratio(x);
    double squares = sum_number(x, squares_of(&scratch) * more * more);
    double over = sqrt(squares / (double)x->whole->count) / (double)numbers.clip;
    take(x, numbers, (double)numbers.learning_rate * more / (over > 1 ? over : 1));
}

static void step(Optimizer *optimizer, AdamW adamw) {
    Adafactor numbers = adafactor_numbers(adamw);
    for (int i = 0; i < optimizer->model->param_count; i++) {
        SlicedTensor x = tensor_of(optimizer, i);
        if (is_cut(&x)) {
            step_cut(&x, numbers, optimizer->t);
        } else {
            call(&x, numbers, optimizer->t);
        }
    }
}

void sliced_factors_join(SlicedFactors *factors, const TensorGroup *group, Optimizer *slice,
                         const Model *whole) {
    Memory *memory = slice->model->memory;
    size_t longest = 0;
    for (int i = 0; i < whole->param_count; i++) {
        size_t n = slice->model->params[i].count;
        longest = n < whole->params[i].count && n > longest ? n : longest;
    }
    *factors = (SlicedFactors){.group = group,
                               .whole = whole,
                               .update = memory_alloc(memory, MEMORY_WORKSPACE, "sliced.update", -1,
                                                      longest * sizeof(float)),
                               .entries = memory_alloc(memory, MEMORY_WORKSPACE, "sliced.list", -1,
                                                       ENTRIES * sizeof(TensorEntry))};
    slice->rule.step = step;
    slice->rule.context = factors;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* The parameters of a slice, or of the whole; to be freed. */
static Param *params_of(const ModelConfig *config, int ranks, int rank) {
    Param *params = calloc((size_t)params_count(config), sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", params_count(config));
    params_describe_shard(params, config, ranks);
    params[WTE].rows = slice_vocab(config->V, ranks, rank).count;
    params[WTE].count = (size_t)params[WTE].rows * (size_t)params[WTE].cols;
    return params;
}

static size_t state_bytes(const Param *param, Optim optim) {
    size_t n = param->count;
    if (optim == OPTIM_ADAFACTOR) {
        return sizeof(float) *
               ((param_is_matrix(param) ? (size_t)param->rows : 0) + (size_t)param->cols);
    }
    return optim == OPTIM_ADAMW_8BIT && param->whole >= ADAM8_LEAST
               ? 2 * (n + adam8_blocks(n) * sizeof(float))
               : 2 * n * sizeof(float);
}

size_t sliced_states(const TrainOptions *options, const Grid *grid) {
    const ModelConfig *config = &options->config;
    Param *params = params_of(config, grid->slices, grid->slice);
    size_t bytes = 0, master = config->precision == F32 ? 0 : sizeof(float);
    for (int i = 0; i < params_count(config); i++) {
        bytes += state_bytes(&params[i], (Optim)options->optim) + master * params[i].count;
    }
    free(params);
    return bytes;
}

/* Of the tensors that are cut: the longest slice, and the numbers that are summed for all. */
static void of_cut(const TrainOptions *options, const Grid *grid, size_t *longest, size_t *summed) {
    const ModelConfig *config = &options->config;
    Param *here = params_of(config, grid->slices, grid->slice), *whole = params_of(config, 1, 0);
    *longest = *summed = 0;
    for (int i = 0; i < params_count(config); i++) {
        const Param *x = &here[i];
        if (x->count == whole[i].count) {
            continue;
        }
        *longest = x->count > *longest ? x->count : *longest;
        *summed += 1; /* squares; with rows that are elsewhere, columns and mean(R) */
        if (param_is_matrix(x)) {
            *summed += x->rows < whole[i].rows ? (size_t)x->cols + 1 : (size_t)x->rows;
        }
    }
    free(here);
    free(whole);
}

size_t sliced_workspace(const TrainOptions *options, const Grid *grid) {
    size_t longest, summed;
    of_cut(options, grid, &longest, &summed);
    return options->optim == OPTIM_ADAFACTOR
               ? longest * sizeof(float) + ENTRIES * sizeof(TensorEntry)
               : 0;
}

size_t sliced_summed(const TrainOptions *options, const Grid *grid) {
    size_t longest, summed;
    of_cut(options, grid, &longest, &summed);
    return options->optim == OPTIM_ADAFACTOR ? summed * sizeof(float) : 0;
}
