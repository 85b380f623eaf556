/**
 * @file adamw.h
 * @brief AdamW: one update of one parameter tensor and its two moments.
 * @ingroup ops
 *
 * Source: I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", arXiv 1711.05101,
 * algorithm 2.
 */
#ifndef KERNELS_ADAMW_H
#define KERNELS_ADAMW_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The numbers of an update. */
typedef struct AdamW {
    float learning_rate; /**< lr of this step, from the schedule */
    float beta1;         /**< decay of the first moment, usually 0.9 */
    float beta2;         /**< decay of the second moment, 0.95 to 0.999 */
    float epsilon;       /**< added outside of the root */
    float weight_decay;  /**< decoupled: scales the weight, not the gradient */
} AdamW;

/**
 * Updates a tensor. Float on every precision: where weights are stored in half, these are their
 * float masters.
 *
 *     m = beta1 * m + (1 - beta1) * g
 *     v = beta2 * v + (1 - beta2) * g^2
 *     w -= lr * ((m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay * w)
 *
 * @param[in,out] weight (n)
 * @param[in,out] m      (n) first moment, zero before step 1
 * @param[in,out] v      (n) second moment, zero before step 1
 * @param[in]     grad   (n)
 * @param         n      elements
 * @param         adamw  the numbers of this update
 * @param         t      step, from 1 on: the first moments are too small by 1 - beta^t
 */
typedef void adamw_fn(float *weight, float *m, float *v, const float *grad, size_t n, AdamW adamw,
                      int t);
FLOAT_OP(adamw);

#ifdef __cplusplus
}
#endif

#endif
