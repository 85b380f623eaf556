/**
 * @file adamw.h
 * @brief AdamW: one update of all parameters and their two moments.
 * @ingroup ops
 *
 * Source: I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", arXiv 1711.05101,
 * algorithm 2.
 */
#ifndef KERNELS_ADAMW_H
#define KERNELS_ADAMW_H

#include "kernels/tensors.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The numbers of an update. */
typedef struct AdamW {
    float learning_rate; /**< lr of this step, from the schedule */
    float beta1;         /**< decay of the first moment, usually 0.9 */
    float beta2;         /**< decay of the second moment, 0.95 to 0.999 */
    float epsilon;       /**< added outside of the root */
    float weight_decay;  /**< decoupled: scales the weight, not the gradient; 0 where a
                              TensorEntry does not decay */
} AdamW;

/**
 * Updates all tensors of a list, in one launch on the GPU. Float on every precision: where weights
 * are stored in half, these are their float masters.
 *
 *     m = beta1 * m + (1 - beta1) * g
 *     v = beta2 * v + (1 - beta2) * g^2
 *     w -= lr * ((m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay * w)
 *
 * The four lists have tensors of the same sizes: a place found in one is a place in all. Whether
 * weight_decay counts for a tensor, its `decays` in `weight` says.
 *
 * @param[in,out] weight the parameters; the list may be empty
 * @param[in,out] m      first moments, zero before step 1
 * @param[in,out] v      second moments, zero before step 1
 * @param[in]     grad   gradients
 * @param         adamw  the numbers of this update
 * @param         t      step, from 1 on: the first moments are too small by 1 - beta^t
 */
typedef void adamw_fn(TensorList weight, TensorList m, TensorList v, TensorList grad, AdamW adamw,
                      int t);
FLOAT_OP(adamw);

#ifdef __cplusplus
}
#endif

#endif
