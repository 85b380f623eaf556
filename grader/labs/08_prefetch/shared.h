/**
 * @file shared.h
 * @brief The passes of lab 08, as both of its programs run them: the submission's and the kit's.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_SHARED_H
#define GRADER_LABS_08_PREFETCH_SHARED_H

#include "grader/labs/08_prefetch/protocol.h"

/** Who runs the passes, and in how much memory. */
typedef struct PassesBy {
    Device *device;
    size_t budget;                                       /**< bytes; 0 for as much as is wanted */
    double (*forward)(Model *model, const Batch *batch); /**< as model_forward() */
    void (*backward)(Model *model, float dloss);         /**< as model_backward() */
} PassesBy;

/** Runs the passes that the judge asks for, and hands back what they gave. */
void offload_passes(const Wire *in, Wire *out, const PassesBy *by);

#endif
