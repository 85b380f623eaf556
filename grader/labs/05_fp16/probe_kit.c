/* Lab 05 without a submission: backward of the first window at its scale. */
#include <omp.h>
#include <stdlib.h>

#include "grader/labs/05_fp16/protocol.h"
#include "grader/probe.h"
#include "kernels/half.h"

enum { ARENA_BYTES = 256 << 20 };

/* Cast here: on a GPU the cast is the submission's. */
static void mixed_upload(const Model *model, const float *weights) {
    Precision precision = model->config.precision;
    for (int i = 0; i < model->param_count; weights += model->params[i++].count) {
        const Param *param = &model->params[i];
        uint16_t *bits = calloc(param->count, sizeof *bits);
        CHECK(bits != NULL, "no host memory for %zu numbers", param->count);
        for (size_t j = 0; j < param->count; j++) {
            bits[j] = precision == F16 ? half_from_float(weights[j]) : bf16_from_float(weights[j]);
        }
        device_upload(model->device, param->weight, bits, param->count * sizeof *bits);
        free(bits);
    }
}

static void mixed_plain(const Wire *in, Wire *out) {
    const MixedWindow *window = wire_get(in, "windows", WIRE_BYTES, NULL);
    const int32_t *option = wire_get(in, "options", WIRE_I32, NULL);
    ModelConfig config = probe_config(in);
    CHECK(config.precision != F32, "only halves are cast");
    omp_set_num_threads(1);
    Device *device = probe_device(option[OPTION_GPU], ARENA_BYTES);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    Model *model =
        model_new(&config, memory, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL));
    mixed_upload(model, wire_get(in, "weights", WIRE_F32, NULL));
    size_t valid = 0;
    for (int i = 0; i < window->count; i++) {
        valid += (size_t)given_batch(in, i).valid;
    }
    for (int i = 0; i < window->count; i++) {
        Batch batch = given_batch(in, i);
        model_forward(model, &batch);
        model_backward(model, 1.0f / (float)valid * window->scale);
    }
    hand_back_gradients(out, model, NAME_GRADIENT, "window", 0);
}

const ProbeCase probe_cases[] = {{"plain", mixed_plain}, {NULL, NULL}};
