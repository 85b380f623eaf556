/* Lab 00 in the probe: each hole on a list of shapes. A shape travels as nine whole numbers, a
   chance of dropout, and the name of the tensor that its answer goes into. */
#include <omp.h>

#include "common/lab00.h"
#include "grader/probe.h"

enum { SHAPE_NUMBERS = 9 };

typedef struct Shape {
    ModelConfig config;
    int B, T;
    uint64_t *answer; /* one number, or one for each kind of memory */
} Shape;

static int shape_count(const Wire *in) {
    size_t numbers;
    wire_get(in, "shapes", WIRE_I32, &numbers);
    return (int)(numbers / SHAPE_NUMBERS);
}

static Shape shape_at(const Wire *in, Wire *out, int i) {
    const int32_t *n = wire_get(in, "shapes", WIRE_I32, NULL);
    const float *dropout = wire_get(in, "dropout", WIRE_F32, NULL);
    const char *names = wire_get(in, "names", WIRE_BYTES, NULL);
    n += i * SHAPE_NUMBERS;
    return (Shape){.config = {.V = n[0],
                              .T = n[1],
                              .L = n[2],
                              .NH = n[3],
                              .C = n[4],
                              .dropout = dropout[i],
                              .precision = (Precision)n[5],
                              .attention = (Attention)n[6]},
                   .B = n[7],
                   .T = n[8],
                   .answer = wire_get(out, names + i * WIRE_NAME, WIRE_U64, NULL)};
}

static void answer_use(const Shape *shape, MemoryUse use) {
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        shape->answer[kind] = use.bytes[kind];
    }
}

static void params(const Wire *in, Wire *out) {
    for (int i = 0; i < shape_count(in); i++) {
        Shape shape = shape_at(in, out, i);
        *shape.answer = bytes_params(&shape.config);
    }
}

static void states(const Wire *in, Wire *out) {
    for (int i = 0; i < shape_count(in); i++) {
        Shape shape = shape_at(in, out, i);
        answer_use(&shape, bytes_states(&shape.config));
    }
}

static void block(const Wire *in, Wire *out) {
    for (int i = 0; i < shape_count(in); i++) {
        Shape shape = shape_at(in, out, i);
        *shape.answer = bytes_block(&shape.config, shape.B, shape.T);
    }
}

static void activations(const Wire *in, Wire *out) {
    for (int i = 0; i < shape_count(in); i++) {
        Shape shape = shape_at(in, out, i);
        *shape.answer = bytes_activations(&shape.config, shape.B, shape.T);
    }
}

/* The workspace depends on the device: the judge says how many threads, or none for the GPU. */
static void predict(const Wire *in, Wire *out) {
    int threads = *(const int32_t *)wire_get(in, "threads", WIRE_I32, NULL);
    omp_set_num_threads(threads > 0 ? threads : 1);
    Device *device = probe_device(threads == 0, 1 << 20);
    for (int i = 0; i < shape_count(in); i++) {
        Shape shape = shape_at(in, out, i);
        answer_use(&shape, bytes_predict(&shape.config, shape.B, shape.T, device));
    }
    device_free(device);
}

const ProbeCase probe_cases[] = {
    {"params", params},           {"states", states},   {"block", block},
    {"activations", activations}, {"predict", predict}, {NULL, NULL},
};
