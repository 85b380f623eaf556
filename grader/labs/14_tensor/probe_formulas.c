/* Lab 14's formulas: a program of its own; nothing in it runs a model or counts its bytes. */
#include "grader/probe.h"
#include "grader/shape.h"
#include "labs/14_tensor/contract.h"

/* R and rank of shape i: "slices" (shapes, 2). */
static const int32_t *slice_of(const Wire *in, int i) {
    return (const int32_t *)wire_get(in, "slices", WIRE_I32, NULL) + 2 * i;
}

static void slice_states(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        const int32_t *slice = slice_of(in, i);
        MemoryUse use = tp_states(&shape.config, slice[0], slice[1]);
        uint64_t *to = shape_answer(in, out, i);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            to[kind] = use.bytes[kind];
        }
    }
}

static void slice_activations(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        const int32_t *slice = slice_of(in, i);
        *shape_answer(in, out, i) =
            tp_activations(&shape.config, shape.B, shape.T, slice[0], slice[1], shape.checkpoint);
    }
}

static void wire_bytes(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) =
            tp_wire_bytes(&shape.config, shape.B, shape.T, slice_of(in, i)[0]);
    }
}

const ProbeCase probe_cases[] = {{"states", slice_states},
                                 {"activations", slice_activations},
                                 {"wire", wire_bytes},
                                 {NULL, NULL}};
