/* Lab 10's formulas: a program of its own; nothing in it runs a model or counts its bytes. */
#include "grader/labs/10_lora/protocol.h"
#include "grader/probe.h"
#include "grader/shape.h"
#include "labs/10_lora/contract.h"

/* Shape i, with the adapter that is given beside it. */
static Shape adapted_shape(const Wire *in, int i) {
    Shape shape = given_shape(in, i);
    const int32_t *n = wire_get(in, "adapters", WIRE_I32, NULL);
    const float *x = wire_get(in, "adapter floats", WIRE_F32, NULL);
    shape.config.adapter = (Adapter){n[2 * i], (unsigned)n[2 * i + 1], x[2 * i], x[2 * i + 1]};
    return shape;
}

static void dropped(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = adapted_shape(in, i);
        *shape_answer(in, out, i) = lora_dropped(&shape.config);
    }
}

static void states(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = adapted_shape(in, i);
        MemoryUse use = lora_states(&shape.config);
        uint64_t *to = shape_answer(in, out, i);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            to[kind] = use.bytes[kind];
        }
    }
}

static void activations(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = adapted_shape(in, i);
        *shape_answer(in, out, i) =
            lora_activations(&shape.config, shape.B, shape.T, shape.checkpoint);
    }
}

const ProbeCase probe_cases[] = {
    {"dropped", dropped}, {"states", states}, {"activations", activations}, {NULL, NULL}};
