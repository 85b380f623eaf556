/**
 * @file contract.h
 * @brief Lab 90: a mean on the host, squares on the GPU.
 * @ingroup labs
 */
#ifndef LABS_90_EXAMPLE_CONTRACT_H
#define LABS_90_EXAMPLE_CONTRACT_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The mean of x, summed in double; 0 where n is 0.
 *
 * @param x (n) host memory
 * @param n elements
 */
double example_mean(const float *x, int n);

/**
 * out[i] = x[i] * x[i]
 *
 * @param[out] out (n) device memory; may be x
 * @param      x   (n) device memory
 * @param      n   elements, from 0
 */
void example_square(float *out, const float *x, int n);

#ifdef __cplusplus
}
#endif

#endif
