/* Lab 12's formulas: a program of its own; nothing in it runs a model or counts its bytes. */
#include "grader/probe.h"
#include "grader/shape.h"
#include "labs/12_zero/contract.h"

/* "asked": (begin, count, part, rank) each, as WIRE_U64; "answers": first, count, at. */
static void pieces(const Wire *in, Wire *out) {
    size_t numbers;
    const uint64_t *asked = wire_get(in, "asked", WIRE_U64, &numbers);
    uint64_t *to = wire_get(out, "answers", WIRE_U64, NULL);
    for (size_t i = 0; i < numbers / 4; i++, asked += 4, to += 3) {
        Piece piece = shard_piece(asked[0], asked[1], asked[2], (int)asked[3]);
        to[0] = piece.first;
        to[1] = piece.count;
        to[2] = piece.at;
    }
}

/* "asked": (length, ranks) each. */
static void parts(const Wire *in, Wire *out) {
    size_t numbers;
    const uint64_t *asked = wire_get(in, "asked", WIRE_U64, &numbers);
    uint64_t *to = wire_get(out, "answers", WIRE_U64, NULL);
    for (size_t i = 0; i < numbers / 2; i++) {
        to[i] = shard_part(asked[2 * i], (int)asked[2 * i + 1]);
    }
}

/* "ways": (stage, ranks, rank, micros) of each shape. */
static const int32_t *way(const Wire *in, int i) {
    return (const int32_t *)wire_get(in, "ways", WIRE_I32, NULL) + 4 * (size_t)i;
}

static void give_kinds(uint64_t *to, MemoryUse use) {
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        to[kind] = use.bytes[kind];
    }
}

static void state_bytes_asked(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        const int32_t *w = way(in, i);
        give_kinds(shape_answer(in, out, i), shard_states(&shape.config, w[0], w[1], w[2]));
    }
}

static void gathered(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        const int32_t *w = way(in, i);
        give_kinds(shape_answer(in, out, i), shard_gathered(&shape.config, w[0], w[1]));
    }
}

static void ahead(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) = shard_ahead(&shape.config, way(in, i)[1]);
    }
}

static void wire(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        const int32_t *w = way(in, i);
        *shape_answer(in, out, i) = shard_wire(&shape.config, w[0], w[1], w[3]);
    }
}

const ProbeCase probe_cases[] = {{"pieces", pieces},
                                 {"parts", parts},
                                 {"states", state_bytes_asked},
                                 {"gathered", gathered},
                                 {"ahead", ahead},
                                 {"wire", wire},
                                 {NULL, NULL}};
