/**
 * @file 05_fp16.h
 * @brief What the judge and the probe of lab 05 say to each other.
 * @ingroup grader
 */
#ifndef GRADER_PROBES_05_FP16_H
#define GRADER_PROBES_05_FP16_H

#include <stdio.h>

#include "common/params.h"
#include "grader/wire.h"

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

enum {
    OP_LINES = 32,     /**< lines of the memory profile that travel */
    OP_LINE_NAME = 32, /**< bytes of a kernel's name there */
};

/** What one line of a kernel asks of device memory: "profile", an array as WIRE_BYTES. */
typedef struct OpLine {
    char kernel[OP_LINE_NAME]; /**< name, with its NUL */
    int32_t write;             /**< or else read */
    int32_t used;              /**< 0 behind the last one */
    double sectors;            /**< of 32 bytes that were touched */
    double ideal;              /**< the fewest that would do */
} OpLine;

/** "in 3", where `what` is "in". */
static inline const char *op_name(char name[WIRE_NAME], const char *what, int i) {
    snprintf(name, WIRE_NAME, "%s %d", what, i);
    return name;
}

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
#define NAME_MASTER "master of "
#define NAME_M "m of "
#define NAME_V "v of "
#define NAME_STATES "states, window"

#endif
