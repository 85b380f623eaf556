/**
 * @file library_types.h
 * @brief The types of numbers that CUDA's libraries know. cuBLAS multiplies those of f32, f16, bf16
 * and f64; it refuses the others when it is called.
 * @ingroup cudasim
 */
#ifndef CUDASIM_LIBRARY_TYPES_H
#define CUDASIM_LIBRARY_TYPES_H

/** Type of a matrix's elements: R real, C complex; bits; F float, I signed, U unsigned. */
typedef enum cudaDataType_t {
    CUDA_R_32F = 0,   /**< float */
    CUDA_R_64F = 1,   /**< double */
    CUDA_R_16F = 2,   /**< fp16 */
    CUDA_R_16BF = 14, /**< bf16 */
    /** @cond */
    CUDA_R_8I = 3,
    CUDA_C_32F = 4,
    CUDA_C_64F = 5,
    CUDA_C_16F = 6,
    CUDA_C_8I = 7,
    CUDA_R_8U = 8,
    CUDA_C_8U = 9,
    CUDA_R_32I = 10,
    CUDA_C_32I = 11,
    CUDA_R_32U = 12,
    CUDA_C_32U = 13,
    CUDA_C_16BF = 15,
    CUDA_R_4I = 16,
    CUDA_R_4U = 18,
    CUDA_R_16I = 20,
    CUDA_R_16U = 22,
    CUDA_R_64I = 24,
    CUDA_R_64U = 26,
    CUDA_R_8F_E4M3 = 28,
    CUDA_R_8F_E5M2 = 29
    /** @endcond */
} cudaDataType_t;
typedef cudaDataType_t cudaDataType; /**< its older name */

/** A part of a library's version number. */
typedef enum libraryPropertyType_t {
    MAJOR_VERSION, /**< the first number */
    MINOR_VERSION, /**< the second */
    PATCH_LEVEL    /**< the third */
} libraryPropertyType;

#endif
