/**
 * @file protocol.h
 * @brief What the judge and the probe of lab 05 say to each other.
 * @ingroup grader
 */
#ifndef GRADER_LABS_05_FP16_PROTOCOL_H
#define GRADER_LABS_05_FP16_PROTOCOL_H

#include <stdbool.h>

#include "grader/probe_windows.h"
#include "grader/wire.h"

/** A number that backward is made to leave in a gradient. */
typedef enum Bad {
    BAD_NONE,  /**< nothing */
    BAD_PLUS,  /**< +inf */
    BAD_MINUS, /**< -inf */
    BAD_NAN,   /**< NaN */
    BAD_LARGE, /**< a number that is finite, and that half does not hold: not bad at all */
} Bad;

/** One window of micro-batches: "windows", an array of these as WIRE_BYTES. */
typedef struct MixedWindow {
    int32_t first; /**< its first micro-batch */
    int32_t count; /**< micro-batches */
    int32_t bad;   /**< a Bad */
    int32_t micro; /**< after whose backward it appears, of this window's */
    int32_t param; /**< in whose gradient */
    int32_t index; /**< at which place of it */
    float scale;   /**< the scaler is set to this scale, no good step yet; 0: it stays as it is */
} MixedWindow;

/** Whether its gradients are not finite. */
static inline bool window_is_bad(const MixedWindow *window) {
    return window->bad != BAD_NONE && window->bad != BAD_LARGE;
}

/** How the probe runs windows, beside what all windows have. */
enum {
    OPTION_LEVEL = OPTION_OWN, /**< 1: by accumulate_window() of lab 03; 0: by its own loop */
    OPTION_SEGMENT,            /**< of gradient checkpointing; 0: none */
    OPTION_FIRST,              /**< what ends the program after the unscaling of the first window
                                    does not count */
    OPTION_SKIPPED,            /**< a report says skipped before mixed_update() writes it */
    OPTION_ASKS,               /**< "moves": whether scaler_update() moves a scaler of its own */
};

/** Results of a second trainer, "apart": 1 where it is right, else 0. */
enum {
    APART_SHARE,     /**< mixed_scale() takes its scale */
    APART_FIXED,     /**< the same while it is not dynamic */
    APART_TAKEN,     /**< its step is taken */
    APART_GRADIENTS, /**< with its gradients, unscaled */
    APART_WEIGHTS,   /**< its weights are its masters, rounded */
    APART_ZERO,      /**< its gradients are zero afterwards */
    APART_STAYS,     /**< its scaler, which is not dynamic, stays */
    APART_BAD,       /**< a NaN is noticed */
    APART_SKIPPED,   /**< and no step is taken */
    APART_UNWRITTEN, /**< and no weight is written */
    APART_CLEAN,     /**< and all gradients are zero then */
    APART_AGAIN,     /**< the next step is taken */
    APART_GROWS,     /**< its scaler, now dynamic, is updated */
    APART_BEYOND,    /**< the same at a scale that no whole number of 32 bits holds */
    APART_BELOW,     /**< the same at a scale of 1/2 */
    APARTS,
};

/** One call of an op: "cases", an array of these as WIRE_BYTES. */
typedef struct OpCase {
    int32_t precision; /**< cast: a Precision */
    int32_t n;         /**< elements */
    float inv_scale;   /**< unscale */
    float found_inf;   /**< unscale: before the call */
    int32_t back;      /**< cast: the result goes through cast_to_float() as well */
} OpCase;

/** "in 3", where `what` is "in". */
const char *op_name(char name[WIRE_NAME], const char *what, int i);

#define NAME_STATES "states, window"

#endif
