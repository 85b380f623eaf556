/**
 * @file loss.h
 * @brief Judge of lab 02, crossentropy: inputs, what should come back, and what known
 * mistakes give.
 * @ingroup grader
 */
#ifndef GRADER_LABS_02_KERNELS_LOSS_H
#define GRADER_LABS_02_KERNELS_LOSS_H

#include "common/testkit/reference.h"
#include "grader/labs/02_kernels/calls.h"

/** Logits: normal numbers. */
typedef struct Logits {
    double spread; /**< their standard deviation */
    double middle; /**< their mean */
    float one;     /**< the one in the middle of all, where it is not 0 */
    double sure;   /**< by how much the target's is above what was drawn */
} Logits;

/** Forward of (N, V) logits; every third row is ignored, with `all` every row. Rows lie apart by
    what the contract allows: as a model has them, or by V and a little. */
void crossentropy_add_forward(Calls *calls, Precision precision, int N, int V, Logits logits,
                              bool all);

/** Backward of the same with an lse that is given; with `in_place` dlogits is logits. */
void crossentropy_add_backward(Calls *calls, Precision precision, int N, int V, Logits logits,
                               double dloss, bool in_place, bool all);

/** Forward, then backward with the lse that came out of it. */
void crossentropy_add_both(Calls *calls, Precision precision, int N, int V, bool in_place);

#endif
