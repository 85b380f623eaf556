/**
 * @file adafactor.h
 * @brief Adafactor: a second moment of each row and of each column in place of one of each number.
 * @ingroup ops
 *
 * Source: N. Shazeer, M. Stern, "Adafactor: adaptive learning rates with sublinear memory cost",
 * arXiv 1804.04235, algorithms 2 and 4, with the settings of Hugging Face's Trainer: no first
 * moment, a learning rate from outside (`scale_parameter` and `relative_step` are false).
 */
#ifndef KERNELS_ADAFACTOR_H
#define KERNELS_ADAFACTOR_H

#include "kernels/tensors.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The numbers of an update. */
typedef struct Adafactor {
    float learning_rate; /**< lr of this step, from the schedule */
    float weight_decay;  /**< decoupled; 0 where the entry in `weight` does not decay */
    float epsilon;       /**< added to each square; 1e-30 */
    float clip;          /**< d: the largest root mean square of an update; 1 */
    float power;         /**< of the step, in beta2; 0.8 */
} Adafactor;

/**
 * Updates all tensors of a list. A tensor is a matrix of I rows and J columns, and tensors do not
 * see each other. In step t, with beta2 = 1 - t^-power:
 *
 *     R[i] = beta2 * R[i] + (1 - beta2) * mean over j of (g[i][j]^2 + epsilon)
 *     C[j] = beta2 * C[j] + (1 - beta2) * mean over i of (g[i][j]^2 + epsilon)
 *     U[i][j] = g[i][j] / (sqrt(R[i] / mean(R)) * sqrt(C[j]))
 *     w[i][j] -= lr * (U[i][j] / max(1, rms(U) / clip) + weight_decay * w[i][j])
 *
 * rms(U) is the root of the mean of U^2 over the tensor. Two roots and not one of a product: with
 * squares near epsilon, R * C is 0 in a float.
 *
 * A vector has one row and no R, whose quotient would be 1: C has one number for each of its own,
 * the second moments themselves.
 *
 * A large tensor is the work of several blocks of threads: one alone would leave the GPU idle.
 *
 * Sums are at least float, and their order depends on the sizes alone. A NaN in a gradient is not
 * hidden: its weight becomes NaN, and in a matrix all of them do. Nor is a number whose square is
 * infinite in a float: it makes its R and C infinite, and in a matrix no weight stays finite.
 *
 * @param[in,out] weight    the parameters; the list may be empty
 * @param[in,out] row       R of each tensor: I numbers, zero before step 1; a tensor of 0 numbers
 *                          for a vector, and for one of 0 numbers
 * @param[in,out] col       C of each tensor: J numbers; zero likewise. I * J is the weight's size
 * @param[in]     grad      gradients, of the weights' sizes
 * @param         adafactor the numbers of this update
 * @param         t         step, from 1 on
 * @param[in]     workspace adafactor_scratch() bytes
 */
typedef void adafactor_fn(TensorList weight, TensorList row, TensorList col, TensorList grad,
                          Adafactor adafactor, int t, const Workspace *workspace);
FLOAT_OP(adafactor);

/** Bytes of workspace for a flat index of that length: a double for each block. */
static inline size_t adafactor_scratch(size_t length) {
    return length / TENSOR_BLOCK * sizeof(double);
}

#ifdef __cplusplus
}
#endif

#endif
