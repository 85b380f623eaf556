/**
 * @file 03_accumulate.h
 * @brief What the judge and the probe of lab 03 say to each other: names, and numbers that mean
 * words.
 * @ingroup grader
 */
#ifndef GRADER_PROBES_03_ACCUMULATE_H
#define GRADER_PROBES_03_ACCUMULATE_H

#include <stdio.h>

#include "common/params.h"
#include "grader/wire.h"

/** The tensor "plan": whole numbers that say what is to be run. */
typedef enum Plan {
    PLAN_STEPS,  /**< micro-batches of a full window */
    PLAN_EPOCHS, /**< times that the data are gone through */
    PLAN_STOP,   /**< windows after which report() says stop; 0 for never */
    PLAN_WANTS,  /**< what is to be handed back, below */
    PLAN_GPU,    /**< whether it runs on the GPU */
    PLAN_SIZE,   /**< how many numbers a plan has */
} Plan;

/** What is to be handed back, to be added up. */
enum {
    WANT_GRADIENTS = 1, /**< as they are when the optimizer steps */
    WANT_UPDATE = 2,    /**< weights and moments after each window */
    WANT_LEFT = 4,      /**< gradients after each window */
    WANT_REPORT = 8,    /**< always handed back; says to the judge that it is looked at */
};

/** What a window does, as its trace tells. */
typedef enum WindowEvent {
    EVENT_NONE,           /**< the trace is over */
    EVENT_BACKWARD,       /**< gradients are added */
    EVENT_NORM,           /**< the norm of the gradients: optimizer_clip() begins with it */
    EVENT_SCALE,          /**< the gradients are scaled */
    EVENT_STEP,           /**< optimizer_step() */
    EVENT_ZERO,           /**< model_zero_grad() */
    EVENT_FORWARD = 100,  /**< forward of micro-batch 0; the next numbers are the next ones */
    EVENT_STRANGER = 999, /**< forward of something else */
} WindowEvent;

/** Events of one window that are kept. */
enum { TRACE_LENGTH = 48 };

/** "gradient of h.1.ln_2.bias, window 3", where `what` is "gradient of ". */
static inline const char *window_name(char name[WIRE_NAME], const char *what, const Param *param,
                                      int window) {
    char full[WIRE_NAME];
    if (param->layer < 0) {
        snprintf(full, sizeof full, "%s", param->name);
    } else {
        snprintf(full, sizeof full, "h.%d.%s", param->layer, param->name);
    }
    int length = snprintf(name, WIRE_NAME, "%s%s, window %d", what, full, window + 1);
    CHECK(length < WIRE_NAME, "the name %s is too long", name);
    return name;
}

#define NAME_GRADIENT "gradient of "
#define NAME_WEIGHT "new "
#define NAME_M "m of "
#define NAME_V "v of "
#define NAME_LEFT "left in grad "

#endif
