/* AdamW over all parameters of a model, clipping by the global norm, and the schedule of the
   learning rate. The contract is in optimizer.h; one element's update is in kernels/adamw.h. */
#include "common/optimizer.h"

#include <math.h>
#include <stdlib.h>

static float **state_new(const Model *model, const char *name) {
    size_t count = (size_t)model->param_count;
    float **state = calloc(count, sizeof *state);
    CHECK(state != NULL, "no memory for %zu pointers", count);
    for (size_t i = 0; i < count; i++) {
        const Param *param = &model->params[i];
        if (param->weight != NULL) {
            state[i] = memory_alloc_zero(model->memory, MEMORY_OPTIMIZER, name, param->layer,
                                         param->count * sizeof(float));
        }
    }
    return state;
}

static TensorList list_new(const Model *model, float *const *data, const char *name) {
    void *entry = memory_alloc(model->memory, MEMORY_WORKSPACE, name, -1,
                               workspace_list_bytes(&model->config));
    return model_list(model, data, entry);
}

static TensorList weights_list(const Optimizer *optimizer) {
    const Model *model = optimizer->model;
    float **weights = calloc((size_t)model->param_count, sizeof *weights);
    CHECK(weights != NULL, "no memory for %d pointers", model->param_count);
    for (int i = 0; i < model->param_count; i++) {
        weights[i] =
            optimizer->master != NULL ? optimizer->master[i] : (float *)model->params[i].weight;
    }
    TensorList list = list_new(model, weights, "list.weights");
    free(weights);
    return list;
}

Optimizer *optimizer_new(Model *model, AdamW adamw) {
    Optimizer *optimizer = calloc(1, sizeof *optimizer);
    CHECK(optimizer != NULL, "no memory for a few bytes");
    optimizer->model = model;
    optimizer->adamw = adamw;
    optimizer->m = state_new(model, "m");
    optimizer->v = state_new(model, "v");
    if (model->config.precision != F32) {
        optimizer->master = state_new(model, "master");
        optimizer_take_weights(optimizer);
    }
    optimizer->weights = weights_list(optimizer);
    optimizer->m_list = list_new(model, optimizer->m, "list.m");
    optimizer->v_list = list_new(model, optimizer->v, "list.v");
    return optimizer;
}

void optimizer_take_weights(Optimizer *optimizer) {
    const Model *model = optimizer->model;
    for (int i = 0; optimizer->master != NULL && i < model->param_count; i++) {
        const Param *param = &model->params[i];
        if (param->weight != NULL) {
            model->ops->cast_to_float(optimizer->master[i], param->weight, param->count);
        }
    }
}

void optimizer_free(Optimizer *optimizer) {
    if (optimizer == NULL) {
        return;
    }
    free(optimizer->m);
    free(optimizer->v);
    free(optimizer->master);
    free(optimizer);
}

void optimizer_step(Optimizer *optimizer, float learning_rate) {
    Model *model = optimizer->model;
    if (optimizer->before_step != NULL) {
        optimizer->before_step(optimizer->context, model);
    }
    AdamW adamw = optimizer->adamw;
    adamw.learning_rate = learning_rate;
    optimizer->t++;
    model->ops->adamw(optimizer->weights, optimizer->m_list, optimizer->v_list, model->grads, adamw,
                      optimizer->t);
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
