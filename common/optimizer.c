#include "common/optimizer.h"

#include <math.h>
#include <stdlib.h>

static float **state_new(const Model *model, const char *name) {
    size_t count = (size_t)model->param_count;
    float **state = calloc(count, sizeof *state);
    CHECK(state != NULL, "no memory for %zu pointers", count);
    for (size_t i = 0; i < count; i++) {
        const Param *param = &model->params[i];
        state[i] = memory_alloc_zero(model->memory, MEMORY_OPTIMIZER, name, param->layer,
                                     param->count * sizeof(float));
    }
    return state;
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
    return optimizer;
}

void optimizer_take_weights(Optimizer *optimizer) {
    const Model *model = optimizer->model;
    for (int i = 0; optimizer->master != NULL && i < model->param_count; i++) {
        const Param *param = &model->params[i];
        model->ops->cast_to_float(optimizer->master[i], param->weight, param->count);
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
    optimizer->t++;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        float *weight = optimizer->master != NULL ? optimizer->master[i] : (float *)param->weight;
        AdamW adamw = optimizer->adamw;
        adamw.learning_rate = learning_rate;
        if (!param_is_matrix(param)) {
            adamw.weight_decay = 0;
        }
        model->ops->adamw(weight, optimizer->m[i], optimizer->v[i], param->grad, param->count,
                          adamw, optimizer->t);
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
