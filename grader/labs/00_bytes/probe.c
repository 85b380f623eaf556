/* Lab 00 in the probe: each hole on a list of shapes (grader/shape.h). Nothing in it runs a model
   or knows its list of parameters. */
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

/* Of the device nothing is here but its numbers: a real one brings the list of parameters along,
   which task 1 asks for. Devices have no place for a context of their own. */
static const Wire *predict_in;

static size_t predict_scratch(const Device *device, const ModelConfig *config) {
    (void)device;
    const uint64_t *scratch = wire_get(predict_in, "scratch", WIRE_U64, NULL);
    for (int i = 0; i < given_shapes(predict_in); i++) {
        const ModelConfig given = given_shape(predict_in, i).config;
        if (config->V == given.V && config->T == given.T && config->L == given.L &&
            config->NH == given.NH && config->C == given.C &&
            config->precision == given.precision && config->attention == given.attention) {
            return (size_t)scratch[i];
        }
    }
    CHECK(false, "workspace_bytes() was asked about another model than the one that is given");
}

static void bytes_predict_case(const Wire *in, Wire *out) {
    int threads = *(const int32_t *)wire_get(in, "threads", WIRE_I32, NULL);
    const Device device = {.name = threads > 0 ? "cpu" : "gpu",
                           .note = "",
                           .host_memory = threads > 0,
                           .simulated = threads == 0,
                           .threads = threads,
                           .workspace_bytes = predict_scratch};
    predict_in = in;
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        answer_use(shape_answer(in, out, i),
                   bytes_predict(&shape.config, shape.B, shape.T, &device));
    }
}

const ProbeCase probe_cases[] = {
    {"params", bytes_params_case},   {"states", bytes_states_case},
    {"block", bytes_block_case},     {"activations", bytes_activations_case},
    {"predict", bytes_predict_case}, {NULL, NULL},
};
