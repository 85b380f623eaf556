/**
 * @file curand.h
 * @brief cuRAND's names for the host. Its generators are not there; those of kernels are.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CURAND_H
#define CUDASIM_CURAND_H

#include "cuda_runtime.h"

/** The outcome of a call. */
typedef enum curandStatus {
    CURAND_STATUS_SUCCESS = 0,            /**< good */
    CURAND_STATUS_NOT_INITIALIZED = 101,  /**< no generator */
    CURAND_STATUS_ALLOCATION_FAILED = 102 /**< no memory */
} curandStatus_t;

/** @cond */
#define CUDASIM_HOST_CURAND "cuRAND on the host; draw the numbers in a kernel, by curand_kernel.h"
typedef struct curandGenerator_st *curandGenerator_t CUDASIM_NO(CUDASIM_HOST_CURAND);
typedef int curandRngType_t CUDASIM_NO(CUDASIM_HOST_CURAND);
enum {
    CURAND_RNG_PSEUDO_DEFAULT CUDASIM_NO(CUDASIM_HOST_CURAND) = 100,
    CURAND_RNG_PSEUDO_XORWOW CUDASIM_NO(CUDASIM_HOST_CURAND) = 101,
    CURAND_RNG_PSEUDO_MTGP32 CUDASIM_NO(CUDASIM_HOST_CURAND) = 141,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 CUDASIM_NO(CUDASIM_HOST_CURAND) = 161
};
CUDASIM_NO_FUNCTION(curandCreateGenerator, CUDASIM_HOST_CURAND)
CUDASIM_NO_FUNCTION(curandDestroyGenerator, CUDASIM_HOST_CURAND)
CUDASIM_NO_FUNCTION(curandSetPseudoRandomGeneratorSeed, CUDASIM_HOST_CURAND)
CUDASIM_NO_FUNCTION(curandGenerateUniform, CUDASIM_HOST_CURAND)
CUDASIM_NO_FUNCTION(curandGenerateNormal, CUDASIM_HOST_CURAND)
/** @endcond */

#endif
