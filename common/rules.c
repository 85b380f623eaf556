/* Optimizers other than AdamW: what they keep of a parameter, and the op that updates it. The
   contract is in rules.h; the mathematics is in kernels/adam8.h and kernels/adafactor.h. */
#include "common/rules.h"

#include <stdlib.h>

static void *host_new(size_t count, size_t size) {
    void *memory = calloc(count, size);
    CHECK(memory != NULL, "no memory for %zu entries", count);
    return memory;
}

/* ---- adamw_8bit ------------------------------------------------------------------------------ */

_Static_assert(sizeof(Moment8) <= sizeof(TensorEntry),
               "a list of moments is no longer than others");

/* Both moments of all parameters, device memory. */
typedef struct Moments8 {
    Moment8 *m, *v;
} Moments8;

/* The names of a moment's states. */
typedef struct MomentNames {
    const char *value, *code, *absmax, *list;
} MomentNames;

static Moment8 moment_new(Optimizer *optimizer, const MomentNames *names, int i) {
    const Param *param = &optimizer->model->params[i];
    Moment8 moment = {NULL, NULL, NULL};
    if (!optimizer_has(param)) {
        return moment;
    }
    if (param->whole < ADAM8_LEAST) {
        moment.value = optimizer_state(optimizer, names->value, i, param->count, sizeof(float));
    } else {
        moment.code = optimizer_state(optimizer, names->code, i, param->count, 1);
        moment.absmax =
            optimizer_state(optimizer, names->absmax, i, adam8_blocks(param->count), sizeof(float));
        optimizer->states[optimizer->state_count - 1].each = TENSOR_BLOCK;
    }
    return moment;
}

/* One moment of every parameter, and the list of them on the device. */
static Moment8 *moments_new(Optimizer *optimizer, const MomentNames *names) {
    const Model *model = optimizer->model;
    size_t count = (size_t)model->param_count;
    Moment8 *host = host_new(count, sizeof *host);
    for (int i = 0; i < model->param_count; i++) {
        host[i] = moment_new(optimizer, names, i);
    }
    Moment8 *list = optimizer_list_space(optimizer, names->list);
    device_upload(model->device, list, host, count * sizeof *host);
    free(host);
    return list;
}

static void adam8_open(Optimizer *optimizer) {
    static const MomentNames m = {"m", "m_code", "m_absmax", "list.m"};
    static const MomentNames v = {"v", "v_code", "v_absmax", "list.v"};
    Moments8 *moments = host_new(1, sizeof *moments);
    moments->m = moments_new(optimizer, &m);
    moments->v = moments_new(optimizer, &v);
    optimizer->own = moments;
}

static void adam8_step(Optimizer *optimizer, AdamW adamw) {
    const Model *model = optimizer->model;
    const Moments8 *moments = optimizer->own;
    model->ops->adam8(optimizer->weights, moments->m, moments->v, model->grads,
                      optimizer->rule.context, adamw, optimizer->t);
}

/* ---- adafactor ------------------------------------------------------------------------------- */

/* R and C of all parameters. */
typedef struct FactorLists {
    TensorList row, col;
} FactorLists;

static size_t rows_of(const Param *param) {
    return optimizer_has(param) && param_is_matrix(param) ? (size_t)param->rows : 0;
}

static size_t cols_of(const Param *param) {
    return optimizer_has(param) ? (size_t)param->cols : 0;
}

static TensorList factors_new(Optimizer *optimizer, const char *name, const char *list_name,
                              size_t (*numbers)(const Param *param)) {
    const Model *model = optimizer->model;
    size_t count = (size_t)model->param_count, n = 0;
    TensorEntry *entries = host_new(count, sizeof *entries);
    for (int i = 0; i < model->param_count; i++) {
        entries[i].n = numbers(&model->params[i]);
        n += entries[i].n;
        if (entries[i].n > 0) {
            entries[i].data = optimizer_state(optimizer, name, i, entries[i].n, sizeof(float));
        }
    }
    TensorEntry *space = optimizer_list_space(optimizer, list_name);
    TensorList list = {space, model->param_count, n, tensors_index(entries, model->param_count)};
    device_upload(model->device, space, entries, count * sizeof *entries);
    free(entries);
    return list;
}

static void adafactor_open(Optimizer *optimizer) {
    FactorLists *lists = host_new(1, sizeof *lists);
    lists->row = factors_new(optimizer, "row", "list.row", rows_of);
    lists->col = factors_new(optimizer, "col", "list.col", cols_of);
    optimizer->own = lists;
}

Adafactor adafactor_numbers(AdamW adamw) {
    return (Adafactor){.learning_rate = adamw.learning_rate,
                       .weight_decay = adamw.weight_decay,
                       .epsilon = 1e-30f,
                       .clip = 1,
                       .power = 0.8f};
}

static void adafactor_step(Optimizer *optimizer, AdamW adamw) {
    const Model *model = optimizer->model;
    const FactorLists *lists = optimizer->own;
    model->ops->adafactor(optimizer->weights, lists->row, lists->col, model->grads,
                          adafactor_numbers(adamw), optimizer->t, &model->workspace);
}

/* ---- by name --------------------------------------------------------------------------------- */

const char *optim_name(Optim optim) {
    return optim == OPTIM_ADAFACTOR    ? "adafactor"
           : optim == OPTIM_ADAMW_8BIT ? "adamw_8bit"
                                       : "adamw";
}

OptimizerRule rule_of(Optim optim, const Codebooks *codebooks) {
    CHECK(optim != OPTIM_ADAMW_8BIT || codebooks != NULL, "moments of a byte need codebooks");
    switch (optim) {
    case OPTIM_ADAFACTOR:
        return (OptimizerRule){optim_name(optim), adafactor_open, adafactor_step, NULL};
    case OPTIM_ADAMW_8BIT:
        return (OptimizerRule){optim_name(optim), adam8_open, adam8_step, codebooks};
    default:
        return (OptimizerRule){0};
    }
}
