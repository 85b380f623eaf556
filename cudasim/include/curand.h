/**
 * @file curand.h
 * @brief cuRAND for the host: generators that fill memory of a device, or the host's own.
 * @ingroup cudasim
 *
 * There are XORWOW, which is the default, and Philox4x32-10. Integers and uniform numbers have the
 * bits of NVIDIA's library in its order CURAND_ORDERING_PSEUDO_LEGACY, which is every order here;
 * normal and log-normal ones come from the same words, and may differ in the last bits. Numbers by
 * Poisson are others than NVIDIA's.
 *
 * A generator of the device gives its numbers to its stream, and the memory has them when that
 * runs; one of the host has written them when the call returns. `num` counts numbers, not bytes; 0
 * writes nothing, and normal and log-normal numbers come in pairs. The output is the caller's, has
 * room for them at an address of such numbers, and may not be NULL.
 * The seed is 0 until it is set. A new one leaves the place in the sequence as it is, which
 * curandSetGeneratorOffset() sets. A generator is the program's until curandDestroyGenerator(). A
 * status other than success is also reported, with the line of the call.
 */
#ifndef CUDASIM_CURAND_H
#define CUDASIM_CURAND_H

/** @cond */
/* By this name programs ask whether curandStatus_t is there. */
#define CURAND_H_
#define CURANDAPI
/** @endcond */

#include "cuda_runtime.h"
#include "cudasim_unsupported.h"
#include "library_types.h"

/** The version that curandGetVersion() gives, and its parts. */
#define CURAND_VERSION 10400
#define CURAND_VER_MAJOR 10 /**< the first part */
#define CURAND_VER_MINOR 4  /**< the second */
#define CURAND_VER_PATCH 0  /**< the third */
#define CURAND_VER_BUILD 0  /**< the fourth */

/** The outcome of a call. The numbers are NVIDIA's. */
typedef enum curandStatus {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,     /**< there is no such generator */
    CURAND_STATUS_ALLOCATION_FAILED = 102,   /**< no memory is left */
    CURAND_STATUS_TYPE_ERROR = 103,          /**< the generator's kind does not do that */
    CURAND_STATUS_OUT_OF_RANGE = 104,        /**< an argument can never be right */
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105, /**< normal numbers come in pairs */
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,      /**< the output or the stream is not good */
    CURAND_STATUS_PREEXISTING_FAILURE = 202, /**< of the device, before the call */
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;

/** Kinds of generators. Only those with a comment are simulated. */
typedef enum curandRngType {
    CURAND_RNG_TEST = 0,
    CURAND_RNG_PSEUDO_DEFAULT = 100, /**< XORWOW */
    CURAND_RNG_PSEUDO_XORWOW = 101,  /**< 4096 subsequences that take turns */
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161, /**< 65536 subsequences that take turns, by fours */
    CURAND_RNG_QUASI_DEFAULT = 200,
    CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
    CURAND_RNG_QUASI_SOBOL64 = 203,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
} curandRngType_t;

/** Orders of the numbers in memory. They make no difference here. */
typedef enum curandOrdering {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_SEEDED = 102, /**< of XORWOW alone */
    CURAND_ORDERING_PSEUDO_LEGACY = 103, /**< the one that is meant to stay as it is */
    CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
    CURAND_ORDERING_QUASI_DEFAULT = 201 /**< of no generator that there is */
} curandOrdering_t;

/** A generator: a seed, a place in the sequence, and a stream. */
typedef struct curandGenerator_st *curandGenerator_t;

#ifdef __cplusplus
extern "C" {
#endif
/** @cond */
curandStatus_t curandGetVersion(int *version);
curandStatus_t curandGetProperty(libraryPropertyType part, int *value);

curandStatus_t cudasim_curand_create_generator(CUDASIM_PLACE, curandGenerator_t *generator,
                                               curandRngType_t type);
curandStatus_t cudasim_curand_create_generator_host(CUDASIM_PLACE, curandGenerator_t *generator,
                                                    curandRngType_t type);
curandStatus_t cudasim_curand_destroy_generator(CUDASIM_PLACE, curandGenerator_t generator);
curandStatus_t cudasim_curand_set_pseudo_random_generator_seed(CUDASIM_PLACE,
                                                               curandGenerator_t generator,
                                                               unsigned long long seed);
curandStatus_t cudasim_curand_set_generator_offset(CUDASIM_PLACE, curandGenerator_t generator,
                                                   unsigned long long offset);
curandStatus_t cudasim_curand_set_generator_ordering(CUDASIM_PLACE, curandGenerator_t generator,
                                                     curandOrdering_t order);
curandStatus_t cudasim_curand_set_stream(CUDASIM_PLACE, curandGenerator_t generator,
                                         cudaStream_t stream);

curandStatus_t cudasim_curand_generate(CUDASIM_PLACE, curandGenerator_t generator, unsigned *output,
                                       size_t num);
curandStatus_t cudasim_curand_generate_long_long(CUDASIM_PLACE, curandGenerator_t generator,
                                                 unsigned long long *output, size_t num);
curandStatus_t cudasim_curand_generate_uniform(CUDASIM_PLACE, curandGenerator_t generator,
                                               float *output, size_t num);
curandStatus_t cudasim_curand_generate_uniform_double(CUDASIM_PLACE, curandGenerator_t generator,
                                                      double *output, size_t num);
curandStatus_t cudasim_curand_generate_normal(CUDASIM_PLACE, curandGenerator_t generator,
                                              float *output, size_t num, float mean,
                                              float deviation);
curandStatus_t cudasim_curand_generate_normal_double(CUDASIM_PLACE, curandGenerator_t generator,
                                                     double *output, size_t num, double mean,
                                                     double deviation);
curandStatus_t cudasim_curand_generate_log_normal(CUDASIM_PLACE, curandGenerator_t generator,
                                                  float *output, size_t num, float mean,
                                                  float deviation);
curandStatus_t cudasim_curand_generate_log_normal_double(CUDASIM_PLACE, curandGenerator_t generator,
                                                         double *output, size_t num, double mean,
                                                         double deviation);
curandStatus_t cudasim_curand_generate_poisson(CUDASIM_PLACE, curandGenerator_t generator,
                                               unsigned *output, size_t num, double lambda);

#define curandCreateGenerator(...) cudasim_curand_create_generator(CUDASIM_HERE, __VA_ARGS__)
#define curandCreateGeneratorHost(...)                                                             \
    cudasim_curand_create_generator_host(CUDASIM_HERE, __VA_ARGS__)
#define curandDestroyGenerator(...) cudasim_curand_destroy_generator(CUDASIM_HERE, __VA_ARGS__)
#define curandSetPseudoRandomGeneratorSeed(...)                                                    \
    cudasim_curand_set_pseudo_random_generator_seed(CUDASIM_HERE, __VA_ARGS__)
#define curandSetGeneratorOffset(...) cudasim_curand_set_generator_offset(CUDASIM_HERE, __VA_ARGS__)
#define curandSetGeneratorOrdering(...)                                                            \
    cudasim_curand_set_generator_ordering(CUDASIM_HERE, __VA_ARGS__)
#define curandSetStream(...) cudasim_curand_set_stream(CUDASIM_HERE, __VA_ARGS__)
#define curandGenerate(...) cudasim_curand_generate(CUDASIM_HERE, __VA_ARGS__)
#define curandGenerateLongLong(...) cudasim_curand_generate_long_long(CUDASIM_HERE, __VA_ARGS__)
#define curandGenerateUniform(...) cudasim_curand_generate_uniform(CUDASIM_HERE, __VA_ARGS__)
#define curandGenerateUniformDouble(...)                                                           \
    cudasim_curand_generate_uniform_double(CUDASIM_HERE, __VA_ARGS__)
#define curandGenerateNormal(...) cudasim_curand_generate_normal(CUDASIM_HERE, __VA_ARGS__)
#define curandGenerateNormalDouble(...)                                                            \
    cudasim_curand_generate_normal_double(CUDASIM_HERE, __VA_ARGS__)
#define curandGenerateLogNormal(...) cudasim_curand_generate_log_normal(CUDASIM_HERE, __VA_ARGS__)
#define curandGenerateLogNormalDouble(...)                                                         \
    cudasim_curand_generate_log_normal_double(CUDASIM_HERE, __VA_ARGS__)
#define curandGeneratePoisson(...) cudasim_curand_generate_poisson(CUDASIM_HERE, __VA_ARGS__)

#define CUDASIM_NO_RANDOM(name, message, first) CUDASIM_NO(message) curandStatus_t name(first, ...);
#define CUDASIM_SOBOL "cuRAND's Sobol generators; there are XORWOW and Philox"
typedef int curandDirectionVectors32_t CUDASIM_NO(CUDASIM_SOBOL);
typedef int curandDirectionVectors64_t CUDASIM_NO(CUDASIM_SOBOL);
typedef int curandDirectionVectorSet_t CUDASIM_NO(CUDASIM_SOBOL);
CUDASIM_NO_RANDOM(curandSetQuasiRandomGeneratorDimensions, CUDASIM_SOBOL, curandGenerator_t)
CUDASIM_NO_RANDOM(curandGetDirectionVectors32, CUDASIM_SOBOL, const void *)
CUDASIM_NO_RANDOM(curandGetDirectionVectors64, CUDASIM_SOBOL, const void *)
CUDASIM_NO_RANDOM(curandGetScrambleConstants32, CUDASIM_SOBOL, const void *)
CUDASIM_NO_RANDOM(curandGetScrambleConstants64, CUDASIM_SOBOL, const void *)
#define CUDASIM_DISCRETE "cuRAND's tables of a distribution; there is curandGeneratePoisson()"
typedef int *curandDiscreteDistribution_t CUDASIM_NO(CUDASIM_DISCRETE);
CUDASIM_NO_RANDOM(curandCreatePoissonDistribution, CUDASIM_DISCRETE, double)
CUDASIM_NO_RANDOM(curandDestroyDistribution, CUDASIM_DISCRETE, const void *)
#define CUDASIM_METHODS "this form of cuRAND's; there is curandGeneratePoisson()"
CUDASIM_NO_RANDOM(curandGeneratePoissonMethod, CUDASIM_METHODS, curandGenerator_t)
CUDASIM_NO_RANDOM(curandGenerateBinomial, CUDASIM_METHODS, curandGenerator_t)
CUDASIM_NO_RANDOM(curandGenerateBinomialMethod, CUDASIM_METHODS, curandGenerator_t)
/** @endcond */
#ifdef __cplusplus
}
#endif

#endif
