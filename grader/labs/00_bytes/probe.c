/* Lab 00 in the probe: each hole on a list of shapes (grader/shape.h). */
#include <omp.h>

#include "grader/probe.h"
#include "grader/shape.h"
#include "labs/00_bytes/contract.h"

static void answer_use(uint64_t *answer, MemoryUse use) {
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        answer[kind] = use.bytes[kind];
    }
}

static void bytes_params_case(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) = bytes_params(&shape.config);
    }
}

static void bytes_states_case(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        answer_use(shape_answer(in, out, i), bytes_states(&shape.config));
    }
}

static void bytes_block_case(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) = bytes_block(&shape.config, shape.B, shape.T);
    }
}

static void bytes_activations_case(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) = bytes_activations(&shape.config, shape.B, shape.T);
    }
}

/* The workspace depends on the device: the judge says how many threads, or none for the GPU. */
static void bytes_predict_case(const Wire *in, Wire *out) {
    int threads = *(const int32_t *)wire_get(in, "threads", WIRE_I32, NULL);
    omp_set_num_threads(threads > 0 ? threads : 1);
    Device *device = probe_device(threads == 0, 1 << 20);
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        answer_use(shape_answer(in, out, i),
                   bytes_predict(&shape.config, shape.B, shape.T, device));
    }
    device_free(device);
}

const ProbeCase probe_cases[] = {
    {"params", bytes_params_case},   {"states", bytes_states_case},
    {"block", bytes_block_case},     {"activations", bytes_activations_case},
    {"predict", bytes_predict_case}, {NULL, NULL},
};
