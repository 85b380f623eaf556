/**
 * @file 01_loop.h
 * @brief What the judge and the probe of lab 01 say to each other: names, and numbers that mean
 * words.
 * @ingroup grader
 */
#ifndef GRADER_PROBES_01_LOOP_H
#define GRADER_PROBES_01_LOOP_H

#include <stdio.h>

#include "common/params.h"
#include "grader/wire.h"

/** What is to be handed back, to be added up. */
enum {
    WANT_GRADIENTS = 1, /**< as they are when the optimizer steps */
    WANT_UPDATE = 2,    /**< weights and moments after each step */
    WANT_LEFT = 4,      /**< gradients after each step */
};

/** How far the first step must come if a hole ends it. */
typedef enum LoopEnough {
    ENOUGH_ALL,      /**< to its end */
    ENOUGH_BACKWARD, /**< gradients are there */
    ENOUGH_UPDATE,   /**< weights are updated */
} LoopEnough;

/** What a step does, as its trace tells. */
typedef enum LoopEvent {
    EVENT_NONE,     /**< the trace is over */
    EVENT_LOOK,     /**< a forward pass that keeps nothing: model_evaluate() */
    EVENT_FORWARD,  /**< model_forward() */
    EVENT_BACKWARD, /**< model_backward() */
    EVENT_NORM,     /**< the norm of the gradients: optimizer_clip() begins with it */
    EVENT_SCALE,    /**< the gradients are scaled: where they are too large, it ends with this */
    EVENT_STEP,     /**< optimizer_step() */
    EVENT_ZERO,     /**< model_zero_grad() */
} LoopEvent;

/** Events of one step that are kept. */
enum { TRACE_LENGTH = 16 };

/** "gradient of h.1.ln_2.bias, step 3", where `what` is "gradient of ". */
static inline const char *loop_name(char name[WIRE_NAME], const char *what, const Param *param,
                                    int step) {
    char full[WIRE_NAME];
    if (param->layer < 0) {
        snprintf(full, sizeof full, "%s", param->name);
    } else {
        snprintf(full, sizeof full, "h.%d.%s", param->layer, param->name);
    }
    int length = snprintf(name, WIRE_NAME, "%s%s, step %d", what, full, step + 1);
    CHECK(length < WIRE_NAME, "the name %s is too long", name);
    return name;
}

#define NAME_GRADIENT "gradient of "
#define NAME_WEIGHT "new "
#define NAME_M "m of "
#define NAME_V "v of "
#define NAME_LEFT "left in grad "

#endif
