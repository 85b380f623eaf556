/* Weights and states between slices and the whole. The contracts are in tensor.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/tensor.h"

/* How a state of a slice lies in the whole. */
typedef enum Layout {
    LAID_AS_WEIGHT, /* a number for each of the parameter: it is cut as the parameter is */
    LAID_ALONG_ROW, /* a number for each row of a matrix, as Adafactor has it */
    LAID_ALONG_COL, /* a number for each column */
    LAID_APART      /* codes, and the scales of blocks: those of each slice by themselves */
} Layout;

static Layout layout_of(const OptimizerState *state, const Param *param) {
    bool coded = state->size != sizeof(float) || strstr(state->name, "absmax") != NULL;
    return coded                             ? LAID_APART
           : !param_is_matrix(param)         ? LAID_AS_WEIGHT
           : strcmp(state->name, "row") == 0 ? LAID_ALONG_ROW
           : strcmp(state->name, "col") == 0 ? LAID_ALONG_COL
                                             : LAID_AS_WEIGHT;
}

static void *host_new(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    CHECK(memory != NULL, "no host memory for %zu of %zu bytes", count, size);
    return memory;
}

/* ---- the optimizer of the whole -------------------------------------------------------------- */

/* "m_code.1" of slice 1: so in a file. */
enum { STATE_NAME = 24 };

static bool any_apart(const Optimizer *slice) {
    for (int i = 0; i < slice->state_count; i++) {
        const OptimizerState *state = &slice->states[i];
        if (layout_of(state, &slice->model->params[state->param]) == LAID_APART) {
            return true;
        }
    }
    return false;
}

/* Numbers of a state in slice `rank`: only the embedding's slices differ in size. */
static size_t count_in(const TensorRun *tensor, const OptimizerState *state, int rank) {
    const ModelConfig *config = &tensor->whole.model->config;
    if (state->param != WTE) {
        return state->count;
    }
    size_t n = (size_t)slice_vocab(config->V, tensor->group.size, rank).count * (size_t)config->C;
    return state->size == sizeof(float) ? adam8_blocks(n) : n;
}

static void open_state(Optimizer *whole, const TensorRun *tensor, const OptimizerState *state,
                       char **name) {
    const Param *param = &whole->model->params[state->param];
    Layout layout = layout_of(state, &tensor->slice->model->params[state->param]);
    size_t count = layout == LAID_ALONG_ROW   ? (size_t)param->rows
                   : layout == LAID_ALONG_COL ? (size_t)param->cols
                                              : param->count;
    if (layout != LAID_APART) {
        optimizer_state(whole, state->name, state->param, count, state->size);
        return;
    }
    for (int rank = 0; rank < tensor->group.size; rank++, *name += STATE_NAME) {
        snprintf(*name, STATE_NAME, "%.8s.%d", state->name, rank);
        optimizer_state(whole, *name, state->param, count_in(tensor, state, rank), state->size);
    }
}

/* In the order of the slice's. Masters are there already. */
static void open_states(Optimizer *whole) {
    const TensorRun *tensor = whole->rule.context;
    const Optimizer *slice = tensor->slice->optimizer;
    char *name = tensor->names + STATE_NAME * 4;
    for (int i = whole->state_count; i < slice->state_count; i++) {
        open_state(whole, tensor, &slice->states[i], &name);
    }
}

Optimizer *tensor_optimizer(TensorRun *tensor) {
    const Optimizer *slice = tensor->slice->optimizer;
    OptimizerRule rule = {slice->rule.name, open_states, NULL, tensor};
    size_t names = 4 + (size_t)slice->state_count * (size_t)tensor->group.size;
    tensor->names = host_new(names, STATE_NAME);
    if (any_apart(slice)) {
        snprintf(tensor->names, 4 * STATE_NAME, "%s in slices of --tensor %d", slice->rule.name,
                 tensor->group.size);
        rule.name = tensor->names;
    }
    return optimizer_new_as(tensor->whole.model, slice->adamw, rule);
}

/* ---- what is cut as weights are -------------------------------------------------------------- */

/* The numbers of parameter `at`, or of a state, on their way. Those along rows or columns travel
   as a matrix of the parameter's shape, all of whose columns or rows are the same. */
typedef struct SliceNumbers {
    int at;
    OptimizerState *state_of_slice, *state_of_whole; /* NULL for the weight */
    Layout layout;
} SliceNumbers;

/* Place i of a matrix in a state along its rows or columns. */
static size_t place_along(const Param *param, Layout layout, size_t i) {
    size_t cols = (size_t)param->cols;
    return layout == LAID_ALONG_ROW ? i / cols : i % cols;
}

static void read_numbers(const Model *model, const SliceNumbers *n, const OptimizerState *state,
                         float *to) {
    const Param *param = &model->params[n->at];
    if (state == NULL) {
        model_download_weight(model, param, to);
        return;
    }
    float *values = host_new(state->count, sizeof *values);
    device_download(model->device, values, state->data, state->count * sizeof *values);
    for (size_t i = 0; i < param->count; i++) {
        to[i] = values[n->layout == LAID_AS_WEIGHT ? i : place_along(param, n->layout, i)];
    }
    free(values);
}

static void write_numbers(Model *model, const SliceNumbers *n, const OptimizerState *state,
                          const float *from) {
    Param *param = &model->params[n->at];
    if (state == NULL) {
        model_upload_weight(model, param, from);
        return;
    }
    float *values = host_new(state->count, sizeof *values);
    for (size_t i = 0; i < param->count; i++) {
        values[n->layout == LAID_AS_WEIGHT ? i : place_along(param, n->layout, i)] = from[i];
    }
    device_upload(model->device, state->data, values, state->count * sizeof *values);
    free(values);
}

static void scatter_numbers(TensorRun *tensor, const SliceNumbers *n) {
    const TensorGroup *group = &tensor->group;
    const Model *from = tensor->whole.model;
    float *whole = host_new(from->params[n->at].count, sizeof *whole);
    float *slice = host_new(tensor->slice->model->params[n->at].count, sizeof *slice);
    read_numbers(from, n, n->state_of_whole, whole);
    slice_cut(slice, whole, &from->config, n->at, group->size, group->rank);
    write_numbers(tensor->slice->model, n, n->state_of_slice, slice);
    free(whole);
    free(slice);
}

/* Slices of the embedding differ in size: room for the largest. */
static size_t largest_slice(const TensorRun *tensor, int at) {
    const ModelConfig *config = &tensor->whole.model->config;
    int R = tensor->group.size, rows = (config->V + R - 1) / R;
    return at == WTE ? (size_t)rows * (size_t)config->C : tensor->slice->model->params[at].count;
}

/* The slices of all ranks; those of the first `size` are one model, and so are the next. */
static void gather_numbers(TensorRun *tensor, const SliceNumbers *n) {
    const TensorGroup *group = &tensor->group;
    Model *to = tensor->whole.model;
    size_t room = largest_slice(tensor, n->at);
    float *whole = host_new(to->params[n->at].count, sizeof *whole);
    float *slice = host_new(room, sizeof *slice);
    float *all = host_new(room * (size_t)comm_size(tensor->comm), sizeof *all);
    read_numbers(tensor->slice->model, n, n->state_of_slice, slice);
    comm_gather(tensor->comm, slice, room * sizeof *slice, all);
    for (int rank = 0; rank < group->size; rank++) {
        slice_join(whole, all + (size_t)rank * room, &to->config, n->at, group->size, rank);
    }
    write_numbers(to, n, n->state_of_whole, whole);
    free(whole);
    free(slice);
    free(all);
}

/* ---- what each slice has by itself ----------------------------------------------------------- */

/* `states` are those of the whole: one for each slice. */
static void scatter_apart(TensorRun *tensor, const OptimizerState *slice,
                          const OptimizerState *states) {
    const OptimizerState *own = &states[tensor->group.rank];
    size_t bytes = own->count * own->size;
    void *values = host_new(bytes, 1);
    device_download(tensor->host, values, own->data, bytes);
    device_upload(tensor->slice->model->device, slice->data, values, bytes);
    free(values);
}

static void gather_apart(TensorRun *tensor, const OptimizerState *slice,
                         const OptimizerState *states) {
    size_t room = states[0].count * states[0].size; /* of the largest */
    char *own = host_new(room, 1), *all = host_new((size_t)comm_size(tensor->comm), room);
    device_download(tensor->slice->model->device, own, slice->data, slice->count * slice->size);
    comm_gather(tensor->comm, own, room, all);
    for (int rank = 0; rank < tensor->group.size; rank++) {
        const OptimizerState *to = &states[rank];
        device_upload(tensor->host, to->data, all + (size_t)rank * room, to->count * to->size);
    }
    free(own);
    free(all);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Two ways to move what the slices have. */
typedef struct TensorMove {
    void (*numbers)(TensorRun *tensor, const SliceNumbers *numbers);
    void (*apart)(TensorRun *tensor, const OptimizerState *slice, const OptimizerState *states);
} TensorMove;

static void each(TensorRun *tensor, TensorMove move) {
    const Model *model = tensor->slice->model;
    OptimizerState *of_whole = tensor->whole.optimizer->states;
    for (int i = 0; i < model->param_count; i++) {
        move.numbers(tensor, &(SliceNumbers){.at = i});
    }
    for (int i = 0; i < tensor->slice->optimizer->state_count; i++) {
        OptimizerState *state = &tensor->slice->optimizer->states[i];
        Layout layout = layout_of(state, &model->params[state->param]);
        if (layout == LAID_APART) {
            move.apart(tensor, state, of_whole);
        } else {
            move.numbers(tensor, &(SliceNumbers){state->param, state, of_whole, layout});
        }
        of_whole += layout == LAID_APART ? tensor->group.size : 1;
    }
}

void tensor_scatter(TensorRun *tensor) {
    each(tensor, (TensorMove){scatter_numbers, scatter_apart});
    tensor->slice->optimizer->t = tensor->whole.optimizer->t;
    tensor->slice->schedule.step = tensor->whole.schedule.step;
    tensor->slice->model->rng = tensor->whole.model->rng;
}

void tensor_gather(TensorRun *tensor) {
    each(tensor, (TensorMove){gather_numbers, gather_apart});
    tensor->whole.optimizer->t = tensor->slice->optimizer->t;
    tensor->whole.schedule = tensor->slice->schedule;
    tensor->whole.model->rng = tensor->slice->model->rng;
}
