/**
 * @file 05_fp16.h
 * @brief What the judge and the probe of lab 05 say to each other.
 * @ingroup grader
 */
#ifndef GRADER_PROBES_05_FP16_H
#define GRADER_PROBES_05_FP16_H

#include <stdio.h>

#include "grader/probes/profile.h"
#include "grader/probes/training.h"

/** A number that backward is made to leave in a gradient. */
typedef enum Bad {
    BAD_NONE,  /**< nothing */
    BAD_PLUS,  /**< +inf */
    BAD_MINUS, /**< -inf */
    BAD_NAN,   /**< NaN */
} Bad;

/** One window of micro-batches: "windows", an array of these as WIRE_BYTES. */
typedef struct Window {
    int32_t first; /**< its first micro-batch */
    int32_t count; /**< micro-batches */
    int32_t bad;   /**< a Bad */
    int32_t micro; /**< after whose backward it appears, of this window's */
    int32_t param; /**< in whose gradient */
    int32_t index; /**< at which place of it */
    float scale;   /**< the scaler is set to this scale, no good step yet; 0: it stays as it is */
} Window;

/** What is to be handed back, to be added up. */
enum {
    WANT_GRADIENTS = 1, /**< of each window, as they are when the optimizer steps, by parameter */
    WANT_UPDATE = 2,    /**< weights, masters, m and v after each window, by parameter */
    WANT_STATES = 4,    /**< all of these after each window, end to end; gradients as well */
};

/** How the probe runs, "options" as WIRE_I32. */
enum {
    OPTION_WANTS,   /**< see above */
    OPTION_GPU,     /**< on the simulated GPU */
    OPTION_LEVEL,   /**< 1: by accumulate_window() of lab 03; 0: by the probe's own loop */
    OPTION_SEGMENT, /**< of gradient checkpointing; 0: none */
    OPTION_FIRST,   /**< a hole behind the unscaling of the first window is no matter */
    OPTIONS,        /**< how many */
};

/** One call of an op: "cases", an array of these as WIRE_BYTES. */
typedef struct OpCase {
    int32_t precision; /**< cast: a Precision */
    int32_t n;         /**< elements */
    float inv_scale;   /**< unscale */
    float found_inf;   /**< unscale: before the call */
} OpCase;

/** "in 3", where `what` is "in". */
static inline const char *op_name(char name[WIRE_NAME], const char *what, int i) {
    snprintf(name, WIRE_NAME, "%s %d", what, i);
    return name;
}

#define NAME_STATES "states, window"

#endif
