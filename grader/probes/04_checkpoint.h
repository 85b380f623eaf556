/**
 * @file 04_checkpoint.h
 * @brief What the judge and the probe of lab 04 say to each other.
 * @ingroup grader
 */
#ifndef GRADER_PROBES_04_CHECKPOINT_H
#define GRADER_PROBES_04_CHECKPOINT_H

#include <string.h>

#include "common/model.h"
#include "grader/probes/training.h"

/** What a formula is asked about. */
typedef struct Shape {
    ModelConfig config;    /**< with a dropout of 0.1 */
    int B;                 /**< sequences */
    int T;                 /**< tokens per sequence */
    Checkpoint checkpoint; /**< what is run again */
} Shape;

/** A shape travels as that many whole numbers. */
enum { SHAPE_NUMBERS = 11 };

/** Packs a shape. */
static inline void shape_numbers(const Shape *shape, int32_t n[SHAPE_NUMBERS]) {
    const ModelConfig *c = &shape->config;
    int32_t numbers[SHAPE_NUMBERS] = {c->V,
                                      c->T,
                                      c->L,
                                      c->NH,
                                      c->C,
                                      (int32_t)c->precision,
                                      (int32_t)c->attention,
                                      shape->B,
                                      shape->T,
                                      shape->checkpoint.segment,
                                      shape->checkpoint.attention_only};
    memcpy(n, numbers, sizeof numbers);
}

/** Unpacks one. */
static inline Shape shape_of(const int32_t n[SHAPE_NUMBERS]) {
    return (Shape){.config = {.V = n[0],
                              .T = n[1],
                              .L = n[2],
                              .NH = n[3],
                              .C = n[4],
                              .dropout = 0.1f,
                              .precision = (Precision)n[5],
                              .attention = (Attention)n[6]},
                   .B = n[7],
                   .T = n[8],
                   .checkpoint = {n[9], n[10] != 0}};
}

/** What of a step is given as "options". */
enum {
    OPTION_GPU,         /**< on the GPU */
    OPTION_SEGMENT,     /**< Checkpoint */
    OPTION_ATTENTION,   /**< Checkpoint */
    OPTION_WINDOW,      /**< micro-batches of a step */
    OPTION_CLOSED,      /**< memory is closed, not checked: there is no place beside the budget */
    OPTION_ASK_SEGMENT, /**< checkpoint_segment() chooses the segment, for "choose" bytes */
    OPTIONS,
};

/** What the probe says of the stack when memory is refused: the judge reads it as advice. */
#define HELD "held: %d blocks, %d of them with probabilities, %d inputs"

#endif
