/* Lab 08's predictions: a program of its own; nothing in it runs a model or counts its bytes. */
#include "grader/probe.h"
#include "grader/shape.h"
#include "labs/08_prefetch/contract.h"

/* Three answers for each shape; the slots are as many as a segment has blocks. */
static void prefetch_bytes_case(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        uint64_t *answer = shape_answer(in, out, i);
        int segment = shape.checkpoint.segment;
        answer[0] = prefetch_bytes(segment, shape.B, shape.T);
        answer[1] = offload_bytes(&shape.config, shape.B, shape.T, segment);
        answer[2] = offload_moved(&shape.config, shape.B, shape.T, segment);
    }
}

static void prefetch_time_case(const Wire *in, Wire *out) {
    size_t count;
    const int32_t *n = wire_get(in, "counts", WIRE_I32, &count);
    const float *seconds = wire_get(in, "seconds", WIRE_F32, NULL);
    float *answer = wire_get(out, "times", WIRE_F32, NULL);
    for (size_t i = 0; i < count / 2; i++) {
        answer[i] = (float)prefetch_time(n[2 * i], n[2 * i + 1], (double)seconds[2 * i],
                                         (double)seconds[2 * i + 1]);
    }
}

static void offload_hides_case(const Wire *in, Wire *out) {
    const float *rate = wire_get(in, "rates", WIRE_F32, NULL);
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) = offload_hides(&shape.config, shape.T, shape.checkpoint.segment,
                                                  (double)rate[2 * i], (double)rate[2 * i + 1]);
    }
}

const ProbeCase probe_cases[] = {
    {"bytes", prefetch_bytes_case},
    {"time", prefetch_time_case},
    {"hides", offload_hides_case},
    {NULL, NULL},
};
