/* An update of all parameters of a model, clipping by the global norm, and the schedule of the
   learning rate. The contract is in optimizer.h; one element's update is in kernels/adamw.h; other
   rules are in rules.h. */
#include "common/optimizer.h"

#include <math.h>
#include <stdlib.h>

#include "common/offloaded.h"

void *optimizer_state(Optimizer *optimizer, const char *name, int param, size_t count,
                      size_t size) {
    Model *model = optimizer->model;
    int room = optimizer->state_count + 1;
    OptimizerState *states = realloc(optimizer->states, (size_t)room * sizeof *states);
    CHECK(states != NULL, "no memory for %d states", room);
    void *data = memory_alloc_zero(model->memory, MEMORY_OPTIMIZER, name,
                                   model->params[param].layer, count * size);
    size_t each = count == model->params[param].count ? 1 : 0;
    states[optimizer->state_count] = (OptimizerState){name, param, count, size, data, each};
    optimizer->states = states;
    optimizer->state_count = room;
    return data;
}

void *optimizer_list_space(Optimizer *optimizer, const char *name) {
    return memory_alloc(optimizer->model->memory, MEMORY_WORKSPACE, name, -1,
                        workspace_list_bytes(&optimizer->model->config));
}

static float **pointers_new(const Model *model) {
    float **pointers = calloc((size_t)model->param_count, sizeof *pointers);
    CHECK(pointers != NULL, "no memory for %d pointers", model->param_count);
    return pointers;
}

/* As many floats for each parameter as it has numbers. */
static float **floats_new(Optimizer *optimizer, const char *name) {
    const Model *model = optimizer->model;
    float **floats = pointers_new(model);
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        if (optimizer_has(param)) {
            floats[i] = optimizer_state(optimizer, name, i, param->count, sizeof(float));
        }
    }
    return floats;
}

static TensorList weights_list(Optimizer *optimizer) {
    const Model *model = optimizer->model;
    float **weights = pointers_new(model);
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        if (optimizer_has(param)) {
            weights[i] = optimizer->master != NULL ? optimizer->master[i] : (float *)param->weight;
        }
    }
    TensorList list = model_list(model, weights, optimizer_list_space(optimizer, "list.weights"));
    free(weights);
    return list;
}

/* ---- the rule of AdamW ----------------------------------------------------------------------- */

/* All moments, for an op on lists. */
typedef struct MomentLists {
    TensorList m, v;
} MomentLists;

static void adamw_open(Optimizer *optimizer) {
    const Model *model = optimizer->model;
    MomentLists *lists = malloc(sizeof *lists);
    CHECK(lists != NULL, "no memory for a few bytes");
    optimizer->m = floats_new(optimizer, "m");
    optimizer->v = floats_new(optimizer, "v");
    lists->m = model_list(model, optimizer->m, optimizer_list_space(optimizer, "list.m"));
    lists->v = model_list(model, optimizer->v, optimizer_list_space(optimizer, "list.v"));
    optimizer->own = lists;
}

static void adamw_step(Optimizer *optimizer, AdamW adamw) {
    const Model *model = optimizer->model;
    const MomentLists *lists = optimizer->own;
    model->ops->adamw(optimizer->weights, lists->m, lists->v, model->grads, adamw, optimizer->t);
}

/* ---- any rule -------------------------------------------------------------------------------- */

Optimizer *optimizer_new(Model *model, AdamW adamw) {
    return optimizer_new_as(model, adamw, (OptimizerRule){0});
}

Optimizer *optimizer_new_as(Model *model, AdamW adamw, OptimizerRule rule) {
    Optimizer *optimizer = calloc(1, sizeof *optimizer);
    CHECK(optimizer != NULL, "no memory for a few bytes");
    bool plain = rule.open == NULL;
    optimizer->model = model;
    optimizer->adamw = adamw;
    optimizer->rule =
        plain ? (OptimizerRule){.name = "adamw", .open = adamw_open, .step = adamw_step} : rule;
    if (model->config.precision != F32) {
        optimizer->master = floats_new(optimizer, "master");
    }
    optimizer_take_weights(optimizer);
    optimizer->weights = weights_list(optimizer);
    optimizer->rule.open(optimizer);
    return optimizer;
}

void optimizer_take_weights(Optimizer *optimizer) {
    Model *model = optimizer->model;
    if (model->mirrors != NULL) {
        offloaded_take_weights(model);
    }
    for (int i = 0; optimizer->master != NULL && i < model->param_count; i++) {
        const Param *param = &model->params[i];
        if (optimizer_has(param)) {
            model->ops->cast_to_float(optimizer->master[i], param->weight, param->count);
        }
    }
}

void optimizer_free(Optimizer *optimizer) {
    if (optimizer == NULL) {
        return;
    }
    free(optimizer->states);
    free(optimizer->own);
    free(optimizer->m);
    free(optimizer->v);
    free(optimizer->master);
    free(optimizer);
}

/* The masters, where there are any, rounded into the weights; and those up to the device. */
static void give_weights(const Optimizer *optimizer) {
    const Model *model = optimizer->model;
    for (int i = 0; optimizer->master != NULL && i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->cast_from_float(param->weight, optimizer->master[i], param->count);
    }
    offloaded_give_weights(model);
}

void optimizer_step(Optimizer *optimizer, float learning_rate) {
    Model *model = optimizer->model;
    if (model->mirrors != NULL) {
        offloaded_take_grads(model);
    }
    if (optimizer->before_step != NULL) {
        optimizer->before_step(optimizer->context, model);
    }
    AdamW adamw = optimizer->adamw;
    adamw.learning_rate = learning_rate;
    optimizer->t++;
    optimizer->rule.step(optimizer, adamw);
    if (model->mirrors != NULL) {
        give_weights(optimizer);
    }
}

float optimizer_clip(Model *model, float max_norm) {
    float norm = model_grad_norm(model);
    if (max_norm > 0 && !(norm <= max_norm)) {
        model_scale_grad(model, max_norm / (norm + 1e-6f));
    }
    return norm;
}

float schedule_rate(const Schedule *schedule) {
    int s = schedule->step, warmup = schedule->warmup_steps;
    if (s < warmup) {
        return schedule->learning_rate * (float)(s + 1) / (float)warmup;
    }
    double span = schedule->max_steps - warmup;
    double done = span > 0 ? (s - warmup) / span : 1;
    done = done < 1 ? done : 1;
    switch (schedule->decay) {
    case DECAY_COSINE:
        return (float)((double)schedule->learning_rate * (1 + cos(3.141592653589793 * done)) / 2);
    case DECAY_LINEAR:
        return (float)((double)schedule->learning_rate * (1 - done));
    default:
        return schedule->learning_rate;
    }
}

void schedule_tick(Schedule *schedule) {
    schedule->step++;
}
