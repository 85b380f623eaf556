/**
 * @file protocol.h
 * @brief What the judge of lab 09 and its probes say to each other.
 * @ingroup grader
 *
 * The hand-in's probe and the kit's get the same, and their results must have the same bits. The
 * kit's can make a known mistake: its case "steps 3" is that of "steps" with the mistake 3.
 */
#ifndef GRADER_LABS_09_FUSION_PROTOCOL_H
#define GRADER_LABS_09_FUSION_PROTOCOL_H

#include "grader/probe_training.h"
#include "grader/wire.h"

/** The tensor whose memory an output shares. */
typedef enum NormPlace {
    NORM_APART,     /**< nothing */
    NORM_IN_BRANCH, /**< forward: sum is branch; backward: dbranch is dout */
    NORM_IN_STREAM, /**< forward: sum is stream */
    NORM_PLACES,    /**< how many */
} NormPlace;

/** One call of residual_norm_forward() or _backward(): "cases", an array of these as WIRE_BYTES. */
typedef struct NormCase {
    int32_t precision; /**< a Precision */
    int32_t N;         /**< rows */
    int32_t C;         /**< channels */
    int32_t in_place;  /**< a NormPlace */
    float p;           /**< of the dropout */
    int32_t based;     /**< the mask has a base beside its offset */
    uint64_t seed;     /**< of the mask */
    uint64_t offset;   /**< of the mask */
} NormCase;

/** Mistakes in forward that the kit can make. */
typedef enum NormMistake {
    NORM_RIGHT,     /**< none */
    NORM_NO_MASK,   /**< the branch is added without dropout */
    NORM_NO_BASE,   /**< the base of the mask is not added */
    NORM_OF_STREAM, /**< the norm is of the stream, without the branch */
    NORM_MISTAKES,  /**< how many */
    /** Backward: the first of them is NORM_NO_MASK too. */
    BACK_BRANCH_FIRST = NORM_MISTAKES, /**< the branch's gradient is made of dsum as it was given */
    BACK_REPLACED,                     /**< where += is meant */
    BACK_AFTER_REPLACED,               /**< sums over rows after dbranch took dout's place */
    BACK_ADDED_IN_PLACE,               /**< dbranch += where it is dout */
    BACK_PARAMETERS_REPLACED,          /**< dweight and dbias = where += is meant */
    BACK_DSUM_REPLACED,                /**< dsum likewise */
    NORM_ALL,                          /**< how many in all */
} NormMistake;

/** The update of a single number, with a rate of 0: weight, m, v and grad before. After it,
    "single after" has all but grad. */
enum { SINGLE_NUMBERS = 4 };
#define SINGLE_BEFORE                                                                              \
    { 3, 1, 1, 2 }
#define SINGLE_ADAMW                                                                               \
    ((AdamW){.learning_rate = 7, .beta1 = 0.5f, .beta2 = 0.75f, .epsilon = 1}) /* not the rate */

/** Bytes of the head in each pass, "head bytes" (WIRE_U64): beyond those in use when forward
    begins; and its products with the embedding. */
enum {
    HEAD_FORWARD,     /**< the most in forward */
    HEAD_KEPT,        /**< left by forward */
    HEAD_BACKWARD,    /**< the most in backward */
    HEAD_LEFT,        /**< left by backward */
    HEAD_OTHERS,      /**< in forward, of kinds other than activations */
    HEAD_CHUNKS,      /**< how often forward computes logits */
    HEAD_CHUNKS_BACK, /**< and backward */
    HEAD_ROWS,        /**< rows of those logits, all together, and of those of losses */
    HEAD_ROWS_BACK,   /**< and in backward, with those of gradients of logits */
    HEAD_NUMBERS,     /**< how many */
};

/** How steps run: "options" as WIRE_I32. */
enum {
    STEPS_COUNT,    /**< how many windows */
    STEPS_MICROS,   /**< micro-batches of a window */
    STEPS_SEGMENT,  /**< of gradient checkpointing (lab 04); 0: none */
    STEPS_FUSED,    /**< with the hand-in's norm: its bits are those of both ops */
    STEPS_RECORDED, /**< entries are counted: "launches" */
    STEPS_ANEW,     /**< from this window on another Graphed has the trainer; 0: none has */
    STEPS_BEFORE,   /**< updates that the optimizer has made before the first window */
    STEPS_OPTIONS,  /**< how many */
};

/** Mistakes in a captured step that the kit can make. */
typedef enum StepsMistake {
    STEPS_RIGHT,          /**< none */
    STEPS_RATE_FROZEN,    /**< each replay has the rate of the capture */
    STEPS_T_FROZEN,       /**< each replay has its t */
    STEPS_OFFSET_FROZEN,  /**< each replay has its masks */
    STEPS_NEVER_SKIPPED,  /**< found is not looked at */
    STEPS_T_WHEN_SKIPPED, /**< t goes on in a skipped step */
    STEPS_IDS_FROZEN,     /**< each replay learns from the window that was captured */
    STEPS_SCALE_FROZEN,   /**< each replay has the share and scale of the capture */
    STEPS_NOT_CLIPPED,    /**< the gradient is not clipped */
    STEPS_NOT_ZEROED,     /**< gradients are left for the next window */
    STEPS_TICK_SKIPPED,   /**< the schedule ticks in a skipped step */
    STEPS_NO_SCALER,      /**< the scaler is not updated */
    STEPS_SKIP_NOT_TOLD,  /**< the host goes on as if no step were skipped */
    STEPS_STREAM_STANDS,  /**< the dropout stream stays where it is */
    STEPS_NOT_WRITTEN,    /**< masters move, weights in half do not */
    STEPS_SCALER_ALWAYS,  /**< the scaler is updated where the scale is fixed */
    STEPS_NOT_UNSCALED,   /**< gradients keep the loss scale */
    STEPS_NORM_SCALED,    /**< norm and factor are of gradients that have the loss scale */
    STEPS_NEVER_GROWS,    /**< the scaler learns of bad steps alone */
    STEPS_FOUND_IN_F16,   /**< inf and NaN are looked for only where the scale is dynamic */
    STEPS_NO_FACTOR,      /**< without a limit norm and factor stay 0 */
    STEPS_SCALED_TWICE,   /**< the loss has its scale twice */
    STEPS_MISTAKES,       /**< how many */
} StepsMistake;

/** Numbers of each step in "steps" (WIRE_U64). */
enum {
    STEP_WEIGHTS, /**< a hash of weights and masters */
    STEP_MOMENTS, /**< a hash of both moments */
    STEP_LEFT,    /**< a hash of the gradients that are left */
    STEP_LOSS,    /**< bits of the loss; all NaN are one */
    STEP_NORM,    /**< bits of the norm; all NaN are one */
    STEP_RATE,    /**< bits of the rate */
    STEP_TOKENS,  /**< valid targets */
    STEP_SKIPPED, /**< whether it was skipped */
    STEP_T,       /**< the optimizer's steps */
    STEP_TICKS,   /**< the schedule's */
    STEP_STREAM,  /**< where the dropout stream stands */
    STEP_SCALE,   /**< bits of the loss scale */
    STEP_NUMBERS, /**< how many */
};

/** Numbers of each step in "launches" (WIRE_U64), in the hand-in's probe alone. */
enum {
    LAUNCH_GRAPHS,   /**< graphs that the host launched */
    LAUNCH_OTHERS,   /**< kernels, products, copies and fills that it gave to streams itself */
    LAUNCH_UPLOADED, /**< bytes to the device, in the graph too */
    LAUNCH_WAITS,    /**< times that the host waited */
    LAUNCH_NUMBERS,  /**< how many */
};

/** The micro-batches and the loss scale of a scripted window. */
typedef struct StepsWindow {
    int32_t first; /**< its first micro-batch, of those given */
    int32_t count; /**< its micro-batches */
    float scale;   /**< the scaler is set to this before it; 0: it stays as it is */
    int32_t bad;   /**< the first weight is infinite from here on */
} StepsWindow;

/** "sum 3" in name[WIRE_NAME]. */
const char *fusion_name(char name[WIRE_NAME], const char *what, int i);

#endif
