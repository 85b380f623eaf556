/* A shape of a quiz, written to and read from a table. The contract is in shape.h. */
#include "grader/shape.h"

#include <string.h>

void shape_pack(const Shape *shape, int32_t n[SHAPE_NUMBERS]) {
    const ModelConfig *c = &shape->config;
    const int32_t numbers[SHAPE_NUMBERS] = {
        c->V,     c->T,    c->L, c->NH, c->C, (int32_t)c->precision, (int32_t)c->attention,
        shape->B, shape->T};
    memcpy(n, numbers, sizeof numbers);
}

int given_shapes(const Wire *in) {
    size_t numbers;
    wire_get(in, "shapes", WIRE_I32, &numbers);
    return (int)(numbers / SHAPE_NUMBERS);
}

/* A judge that asks about plain steps does not give them. */
static Checkpoint given_checkpoint(const Wire *in, int i) {
    size_t count = (size_t)(given_shapes(in) * CHECKPOINT_NUMBERS);
    if (!wire_has(in, "checkpoints", WIRE_I32, count)) {
        return (Checkpoint){0};
    }
    const int32_t *n = wire_get(in, "checkpoints", WIRE_I32, NULL);
    n += i * CHECKPOINT_NUMBERS;
    return (Checkpoint){.segment = n[0], .attention_only = n[1] != 0};
}

Shape given_shape(const Wire *in, int i) {
    const int32_t *n = wire_get(in, "shapes", WIRE_I32, NULL);
    const float *dropout = wire_get(in, "dropout", WIRE_F32, NULL);
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
                   .checkpoint = given_checkpoint(in, i)};
}

uint64_t *shape_answer(const Wire *in, Wire *out, int i) {
    const char *names = wire_get(in, "names", WIRE_BYTES, NULL);
    return wire_get(out, names + i * WIRE_NAME, WIRE_U64, NULL);
}
