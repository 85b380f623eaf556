/* Lab 04's two formulas: a program of its own; nothing in it runs a model or counts its bytes. */
#include "grader/probe.h"
#include "grader/shape.h"
#include "labs/04_checkpoint/contract.h"

static void checkpoint_bytes_case(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) =
            checkpoint_bytes(&shape.config, shape.B, shape.T, shape.checkpoint);
    }
}

static void checkpoint_segment_case(const Wire *in, Wire *out) {
    const uint64_t *budget = wire_get(in, "budgets", WIRE_U64, NULL);
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) =
            (uint64_t)checkpoint_segment(&shape.config, shape.B, shape.T, (size_t)budget[i]);
    }
}

const ProbeCase probe_cases[] = {
    {"bytes", checkpoint_bytes_case},
    {"segment", checkpoint_segment_case},
    {NULL, NULL},
};
