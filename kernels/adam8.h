/**
 * @file adam8.h
 * @brief AdamW with moments of one byte: each a code, and a scale for each block of 256.
 * @ingroup ops
 *
 * Source: T. Dettmers, M. Lewis, S. Shleifer, L. Zettlemoyer, "8-bit optimizers via block-wise
 * quantization", arXiv 2110.02861, sections 2 and 3; the library is bitsandbytes.
 */
#ifndef KERNELS_ADAM8_H
#define KERNELS_ADAM8_H

#include "kernels/adamw.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ADAM8_CODES = 256,          /**< values that a byte can stand for */
    ADAM8_BLOCK = TENSOR_BLOCK, /**< numbers with a scale in common */
    ADAM8_LEAST = 4096,         /**< numbers of the shortest tensor with moments in bytes */
};

/** The values that codes stand for, from -1 or 0 to 1, rising. Passed by value to a kernel. */
typedef struct Codebooks {
    float m[ADAM8_CODES]; /**< of first moments, which have a sign; one of them is 0 */
    float v[ADAM8_CODES]; /**< of second moments, which have none; the first one is 0 */
} Codebooks;

/** One moment of one tensor of n numbers: in bytes, or in floats where the tensor is short. */
typedef struct Moment8 {
    uint8_t *code; /**< (n) codes; NULL where the moments are floats */
    float
        *absmax;  /**< (ceil(n / ADAM8_BLOCK)) the largest magnitude in each block; NULL likewise */
    float *value; /**< (n) the moments themselves; NULL where they are in bytes */
} Moment8;

/** Scales of a tensor of n numbers. */
static inline size_t adam8_blocks(size_t n) {
    return (n + ADAM8_BLOCK - 1) / ADAM8_BLOCK;
}

/**
 * AdamW with moments in bytes, all tensors in one launch on the GPU. For each block of a tensor,
 * number i of it:
 *
 *     m = Q.m[m.code[i]] * m.absmax                   the moments as they were stored
 *     v = Q.v[v.code[i]] * v.absmax
 *     m = beta1 * m + (1 - beta1) * g                 adamw() with these: the update takes the
 *     v = beta2 * v + (1 - beta2) * g^2               moments before they are stored again
 *     w -= lr * ((m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay * w)
 *
 *     m.absmax = max over the block of |m|            likewise v
 *     m.code[i] = nearest(Q.m, m / m.absmax)
 *
 * nearest(Q, x) is the smallest code c with x <= (Q[c] + Q[c + 1]) / 2, or the last one. A negative
 * moment keeps its sign: where the nearest value is 0, it takes the code below. In a block of zeros
 * x is 0. A moment that is inf or NaN is not hidden: the block's absmax is then not finite either,
 * and what its codes are says nothing.
 *
 * Where `value` is not NULL the tensor's moments are floats: adamw(), to the bit. In the first
 * step, with codes and scales of 0, the weights are adamw()'s in every tensor.
 *
 * A large tensor is the work of several blocks of threads: one alone would leave the GPU idle.
 *
 * Decay pulls with the weight before the step, as in adamw() and PyTorch. bitsandbytes multiplies
 * by 1 - lr * weight_decay after it.
 *
 * @param[in,out] weight    the parameters; the list may be empty
 * @param[in,out] m         (weight.count) first moments, memory of the device; zero before step 1
 * @param[in,out] v         (weight.count) second moments, likewise
 * @param[in]     grad      gradients, of the same sizes
 * @param[in]     codebooks host memory
 * @param         adamw     the numbers of this update
 * @param         t         step, from 1 on
 */
typedef void adam8_fn(TensorList weight, const Moment8 *m, const Moment8 *v, TensorList grad,
                      const Codebooks *codebooks, AdamW adamw, int t);
FLOAT_OP(adam8);

#ifdef __cplusplus
}
#endif

#endif
