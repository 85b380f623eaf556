/**
 * @file shared.h
 * @brief What the hand-in's probe of lab 09 and the kit's do alike.
 * @ingroup grader
 */
#ifndef GRADER_LABS_09_FUSION_SHARED_H
#define GRADER_LABS_09_FUSION_SHARED_H

#include "common/trainer.h"
#include "grader/labs/09_fusion/protocol.h"

/** One call of an op. */
typedef struct NormCall {
    const Wire *in;      /**< what is given */
    Wire *out;           /**< what is wanted */
    int i;               /**< which case */
    const NormCase *c;   /**< the case */
    const Ops *ops;      /**< in its precision */
    Device *device;      /**< where */
    Memory *memory;      /**< tensors of this call */
    Dropout dropout;     /**< the mask */
    Workspace workspace; /**< scratch memory */
} NormCall;

/** Runs all cases: opens a device, and calls `run` for each of them. */
void norm_calls(const Wire *in, Wire *out, void (*run)(const NormCall *call));

/** (n) a tensor that is given, in the case's precision. */
Real *norm_real(const NormCall *call, const char *what);

/** (n) the same in float. */
float *norm_float(const NormCall *call, const char *what);

/** (n) a tensor that nobody has written. */
void *norm_new(const NormCall *call, size_t n, size_t element);

/** Hands back a tensor in the case's precision, as floats. */
void norm_give_real(const NormCall *call, const char *what, const Real *from);

/** Hands back floats. */
void norm_give_float(const NormCall *call, const char *what, const float *from);

/** A run of windows. */
typedef struct StepsRun {
    const Wire *in;             /**< what is given */
    Wire *out;                  /**< what is wanted */
    const int32_t *option;      /**< (STEPS_OPTIONS) */
    const StepsWindow *windows; /**< (STEPS_COUNT) */
    Device *device;             /**< the simulated GPU */
    Memory *memory;             /**< unchecked, as captures need it */
    Mixed mixed;                /**< of the trainer, with weights in half */
    Trainer trainer;            /**< all that a step works on */
    Batch batch[16];            /**< of the present window */
    int number;                 /**< of the present window, from 0 on */
    int place;                  /**< the same among the windows of one Graphed */
} StepsRun;

/** Opens what is given. */
void steps_open(StepsRun *run, const Wire *in, Wire *out);

/** Window `number`: run->batch, scale and first weight are set. @return its micro-batches */
int steps_window(StepsRun *run, int number);

/** Hands back the numbers of a window that is over. */
void steps_give(const StepsRun *run, const StepReport *report);

/** Frees everything. */
void steps_close(StepsRun *run);

#endif
