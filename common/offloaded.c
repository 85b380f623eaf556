/* Pieces of a model in host memory. The contract is in offloaded.h. */
#include "common/offloaded.h"

#include <stdlib.h>

/* Scratch memory: weights in half pass through it as floats, a piece at a time. */
enum { SCRATCH = 64 << 10 };

static void alloc_params(Model *model) {
    size_t element = precision_bytes(model->config.precision);
    for (int i = 0; i < model->param_count; i++) {
        Param *param = &model->params[i];
        param->weight = memory_alloc_zero(model->memory, MEMORY_WEIGHTS, param->name, param->layer,
                                          param->count * element);
        param->grad = memory_alloc_zero(model->memory, MEMORY_GRADIENTS, param->name, param->layer,
                                        param->count * sizeof(float));
    }
}

static void alloc_lists(Model *model, size_t count) {
    float **grads = calloc(count, sizeof *grads);
    CHECK(grads != NULL, "no memory for %zu pointers", count);
    for (size_t i = 0; i < count; i++) {
        grads[i] = model->params[i].grad;
    }
    size_t list = workspace_list_bytes(&model->config);
    char *workspace =
        memory_alloc(model->memory, MEMORY_WORKSPACE, "workspace", -1, SCRATCH + list);
    model->workspace =
        (Workspace){.data = workspace, .bytes = SCRATCH, .threads = model->device->threads};
    model->grads = model_list(model, grads, workspace + SCRATCH);
    free(grads);
}

Model *offloaded_new(Model *pieces) {
    Model *model = malloc(sizeof *model);
    size_t count = (size_t)pieces->param_count;
    Param *params = malloc(count * sizeof *params);
    CHECK(model && params && pieces->places != NULL, "no memory for %zu pieces", count);
    for (size_t i = 0; i < count; i++) {
        params[i] = pieces->params[i];
    }
    *model = *pieces;
    model->device = device_cpu_new(0);
    CHECK(model->device != NULL, "no host memory for %zu pieces", count);
    model->memory = memory_new(model->device, (MemoryOptions){0});
    model->ops = &model->device->ops[model->config.precision];
    model->params = model->base = params;
    model->mirrors = pieces;
    model->grad_norm = NULL;
    alloc_params(model);
    alloc_lists(model, count);
    pieces->offloaded = model;
    return model;
}

void offloaded_free(Model *offloaded) {
    if (offloaded != NULL) {
        offloaded->mirrors->offloaded = NULL;
        memory_free(offloaded->memory);
        device_free(offloaded->device);
        free(offloaded->params);
        free(offloaded);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

void offloaded_take_weights(Model *offloaded) {
    const Model *pieces = offloaded->mirrors;
    size_t element = precision_bytes(pieces->config.precision);
    for (int i = 0; i < pieces->param_count; i++) {
        device_download(pieces->device, offloaded->params[i].weight, pieces->params[i].weight,
                        pieces->params[i].count * element);
    }
}

void offloaded_take_grads(Model *offloaded) {
    const Model *pieces = offloaded->mirrors;
    for (int i = 0; i < pieces->param_count; i++) {
        device_download(pieces->device, offloaded->params[i].grad, pieces->params[i].grad,
                        pieces->params[i].count * sizeof(float));
    }
}

void offloaded_give_weights(const Model *offloaded) {
    const Model *pieces = offloaded->mirrors;
    size_t element = precision_bytes(pieces->config.precision);
    for (int i = 0; i < pieces->param_count; i++) {
        device_upload(pieces->device, pieces->params[i].weight, offloaded->params[i].weight,
                      pieces->params[i].count * element);
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

MemoryUse offloaded_bytes(const ModelConfig *config, size_t count, size_t states) {
    size_t lists = WORKSPACE_LISTS * workspace_list_bytes(config);
    return (MemoryUse){.bytes = {[MEMORY_OPTIMIZER] = states,
                                 [MEMORY_WORKSPACE] = SCRATCH + lists,
                                 [MEMORY_GRADIENTS] = sizeof(float) * count,
                                 [MEMORY_WEIGHTS] = precision_bytes(config->precision) * count}};
}
