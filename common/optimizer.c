#include "common/optimizer.h"

#include <math.h>
#include <stdlib.h>

Optimizer *optimizer_new(Model *model, AdamW adamw) {
    CHECK(model->config.precision == F32, "weights in %s need float masters",
          precision_name(model->config.precision));
    Optimizer *optimizer = calloc(1, sizeof *optimizer);
    CHECK(optimizer != NULL, "no memory for a few bytes");
    size_t count = (size_t)model->param_count;
    optimizer->model = model;
    optimizer->adamw = adamw;
    optimizer->m = calloc(count, sizeof *optimizer->m);
    optimizer->v = calloc(count, sizeof *optimizer->v);
    CHECK(optimizer->m && optimizer->v, "no memory for %zu pointers", count);
    for (size_t i = 0; i < count; i++) {
        const Param *param = &model->params[i];
        size_t bytes = param->count * sizeof(float);
        optimizer->m[i] =
            memory_alloc_zero(model->memory, MEMORY_OPTIMIZER, param->name, param->layer, bytes);
        optimizer->v[i] =
            memory_alloc_zero(model->memory, MEMORY_OPTIMIZER, param->name, param->layer, bytes);
    }
    return optimizer;
}

void optimizer_free(Optimizer *optimizer) {
    if (optimizer == NULL) {
        return;
    }
    free(optimizer->m);
    free(optimizer->v);
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
        AdamW adamw = optimizer->adamw;
        adamw.learning_rate = learning_rate;
        if (!param_is_matrix(param)) {
            adamw.weight_decay = 0;
        }
        model->ops->adamw((float *)param->weight, optimizer->m[i], optimizer->v[i], param->grad,
                          param->count, adamw, optimizer->t);
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
