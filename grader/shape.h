/**
 * @file shape.h
 * @brief What a formula is asked about, on its way from the judge (grader/quiz.h) to the probe.
 * @ingroup grader
 *
 * Shapes travel as "shapes" (nine whole numbers each), "dropout", "checkpoints" (two numbers each;
 * may be left out) and "names": of the tensors that their answers go into, WIRE_NAME bytes each.
 */
#ifndef GRADER_SHAPE_H
#define GRADER_SHAPE_H

#include "common/model.h"
#include "grader/wire.h"

enum {
    SHAPE_NUMBERS = 9,      /**< of "shapes" */
    CHECKPOINT_NUMBERS = 2, /**< of "checkpoints" */
};

/** A model, a micro-batch of it, and what is run again. */
typedef struct Shape {
    ModelConfig config;
    int B;                 /**< sequences */
    int T;                 /**< tokens per sequence */
    Checkpoint checkpoint; /**< {0} where nothing is run again */
} Shape;

/** Packs a shape, apart from its dropout and its checkpoint. */
void shape_pack(const Shape *shape, int32_t n[SHAPE_NUMBERS]);

/** How many shapes the probe is given. */
int given_shapes(const Wire *in);

/** Shape i of these. */
Shape given_shape(const Wire *in, int i);

/** Where its answer goes: as many numbers as the judge wants. */
uint64_t *shape_answer(const Wire *in, Wire *out, int i);

#endif
