/* Lab 05 without a submission: backward of the first window at its scale. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/05_fp16/protocol.h"
#include "grader/probe.h"
#include "kernels/half.h"

enum { ARENA_BYTES = 256 << 20 };

static Device *mixed_device;

/* On a GPU the cast is the submission's, and it is not here: this one goes by the host. */
static void mixed_cast(Real *out, const float *in, size_t n, bool bf16) {
    float *from = calloc(n, sizeof *from);
    uint16_t *bits = calloc(n, sizeof *bits);
    CHECK(from != NULL && bits != NULL, "no host memory for %zu numbers", n);
    device_download(mixed_device, from, in, n * sizeof *from);
    for (size_t i = 0; i < n; i++) {
        bits[i] = bf16 ? bf16_from_float(from[i]) : half_from_float(from[i]);
    }
    device_upload(mixed_device, out, bits, n * sizeof *bits);
    free(from);
    free(bits);
}

static void mixed_cast_f16(Real *out, const float *in, size_t n) {
    mixed_cast(out, in, n, false);
}

static void mixed_cast_bf16(Real *out, const float *in, size_t n) {
    mixed_cast(out, in, n, true);
}

static Device *mixed_plain_device(bool gpu) {
    static Ops ops[3];
    if (!gpu) {
        return probe_device(false, ARENA_BYTES);
    }
    memcpy(ops, ops_gpu, sizeof ops);
    ops[F16].cast_from_float = mixed_cast_f16;
    ops[BF16].cast_from_float = mixed_cast_bf16;
    return device_gpu_new(ops);
}

static void mixed_plain(const Wire *in, Wire *out) {
    const MixedWindow *window = wire_get(in, "windows", WIRE_BYTES, NULL);
    const int32_t *option = wire_get(in, "options", WIRE_I32, NULL);
    ModelConfig config = probe_config(in);
    omp_set_num_threads(1);
    mixed_device = mixed_plain_device(option[OPTION_GPU]);
    CHECK(mixed_device != NULL, "no device with %d bytes", ARENA_BYTES);
    Memory *memory = memory_new(mixed_device, (MemoryOptions){.checked = !mixed_device->simulated});
    Model *model =
        model_new(&config, memory, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL));
    const float *weights = wire_get(in, "weights", WIRE_F32, NULL);
    for (int i = 0; i < model->param_count; weights += model->params[i++].count) {
        model_upload_weight(model, &model->params[i], weights);
    }
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
