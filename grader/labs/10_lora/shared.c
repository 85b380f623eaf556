#include "grader/labs/10_lora/shared.h"

#include <omp.h>
#include <string.h>

#include "grader/probe.h"
#include "grader/probe_training.h"

enum { ARENA_BYTES = 256 << 20 };

int given_number(const Wire *in, int which) {
    return ((const int32_t *)wire_get(in, "options", WIRE_I32, NULL))[which];
}

void given_params(Model *model, Param *params, int count, const float *from) {
    for (int i = 0; i < count; i++) {
        model_upload_weight(model, &params[i], from);
        from += params[i].count;
    }
}

void hand_back_params(Wire *out, const char *name, const Model *model, const Param *params,
                      int count) {
    size_t wanted;
    float *to = wire_get(out, name, WIRE_F32, &wanted);
    CHECK(wanted == protocol_numbers(params, count), "%s: %zu numbers", name, wanted);
    for (int i = 0; i < count; i++) {
        model_download_weight(model, &params[i], to);
        to += params[i].count;
    }
}

/* Of each matrix by its name. */
static void hand_back_trained(Wire *out, const Model *model) {
    for (int at = 0; at < model->config.L * BLOCK_LINEARS; at++) {
        int layer = at / BLOCK_LINEARS;
        LinearId id = (LinearId)(at % BLOCK_LINEARS);
        const Param *adapter = model_adapter(model, layer, id);
        for (int which = 0; which < 2 && adapter != NULL; which++) {
            char name[WIRE_NAME];
            hand_back(out, model->device, protocol_name(name, "d", layer, id, which),
                      adapter[which].grad, adapter[which].count);
        }
    }
}

static void update(Wire *out, Model *model, Optimizer *optimizer, bool first) {
    bool trains = model->config.adapter.rank > 0;
    if (first && trains) {
        hand_back_trained(out, model);
    }
    optimizer_step(optimizer, trains ? 1e-2f : 0);
    model_zero_grad(model);
}

void lora_passes(const Wire *in, Wire *out, const RunBy *by) {
    ModelConfig config = probe_config(in);
    if (by->bare) {
        config.adapter = (Adapter){0};
    }
    if (by->budget > 0) {
        omp_set_num_threads(1); /* as the judge counts: the workspace is for each thread */
    }
    Device *device = probe_device(given_number(in, RUN_GPU), ARENA_BYTES);
    Memory *memory =
        memory_new(device, (MemoryOptions){.budget = by->budget, .checked = !device->simulated});
    Model *model =
        model_new(&config, memory, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL));
    Optimizer *optimizer = optimizer_new(
        model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f});
    if (by->begin != NULL) {
        by->begin(in, model);
        optimizer_take_weights(optimizer);
    }
    int passes = given_number(in, RUN_PASSES), window = given_number(in, RUN_WINDOW);
    uint64_t *loss = wire_get(out, "loss", WIRE_U64, NULL);
    uint64_t *stream = wire_get(out, "stream", WIRE_U64, NULL);
    Batch first = given_batch(in, 0);
    model_next_logits(model, &first, wire_get(out, "logits", WIRE_F32, NULL));
    for (int i = 0; i < passes; i++) {
        Batch batch = given_batch(in, i % given_batches(in));
        double sum = by->forward(model, &batch);
        by->backward(model, *(const float *)wire_get(in, "share", WIRE_F32, NULL));
        memcpy(&loss[i], &sum, sizeof sum);
        stream[i] = model->rng.offset;
        if ((i + 1) % window == 0) {
            update(out, model, optimizer, i < window);
        }
    }
    if (config.adapter.rank > 0) {
        hand_back_params(out, "base", model, model->base, model->base_count);
        hand_back_params(out, "trained", model, model->params, model->param_count);
    }
    memory_free(memory); /* looks for what was written past the end of a tensor */
}
