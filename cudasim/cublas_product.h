/**
 * @file cublas_product.h
 * @brief A product of matrices as cuBLAS was asked for it.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CUBLAS_PRODUCT_H
#define CUDASIM_CUBLAS_PRODUCT_H

#include "cublas_v2.h"
#include "sim.h"

/** A matrix, or one for each product of the batch, stored by columns. */
typedef struct BlasMatrix {
    char name;                   /**< 'A', 'B' or 'C' */
    void *data;                  /**< device memory; NULL if there is `each` */
    void *const *each;           /**< (batch) in device memory: where each begins; or NULL */
    cudaDataType_t type;         /**< of its numbers */
    cublasOperation_t operation; /**< what is taken of it */
    int ld;                      /**< numbers from one stored column to the next */
    long long stride;            /**< numbers from one matrix to the next */
    int rows;                    /**< as stored; product_submit() fills it in */
    int columns;                 /**< the same */
} BlasMatrix;

/** A step between the product and its store: an epilogue of cuBLASLt. */
typedef struct Epilogue {
    int32_t kind;       /**< a cublasLtEpilogue_t; 0 is none */
    const void *bias;   /**< (m), added to each column */
    int32_t bias_type;  /**< of its numbers; -1: as C's */
    void *aux;          /**< (m, n), takes what ReLU or GELU are given; or NULL */
    int32_t aux_type;   /**< of its numbers; -1: as C's */
    int64_t aux_ld;     /**< numbers from one column to the next */
    int64_t aux_stride; /**< numbers from one matrix to the next */
} Epilogue;

/** C = alpha op(A) op(B) + beta C for each of a batch. */
typedef struct Product {
    const char *function;        /**< that was called */
    Place place;                 /**< where */
    int m;                       /**< rows of C and op(A) */
    int n;                       /**< columns of C and op(B) */
    int k;                       /**< columns of op(A), rows of op(B) */
    int batch;                   /**< number of products */
    int slot;                    /**< the stream that does it */
    bool is_member;              /**< one of a batch by arrays of pointers, while that runs */
    cublasComputeType_t compute; /**< in what is summed */
    bool device_scalars;         /**< alpha and beta are in device memory */
    const void *alpha;           /**< one number of product_sums() */
    const void *beta;            /**< one number of product_sums() */
    float alpha_read;            /**< its value, read at the call if in host memory */
    float beta_read;             /**< the same */
    Epilogue after;              /**< before it is stored */
    BlasMatrix A;                /**< first factor */
    BlasMatrix B;                /**< second factor */
    BlasMatrix C;                /**< result */
} Product;

/** Bits of a cublasLtEpilogue_t. */
enum { BIAS = 4, RELU = 2, GELU = 32, AUX = 128 };

/* ---- cublas_check.c -------------------------------------------------------------------------- */

/** Bytes of a number; 0 for a type that is not simulated. */
size_t blas_number_bytes(cudaDataType_t type);

/** Number i of those at `numbers`. */
float blas_number(const void *numbers, int i, cudaDataType_t type);

/** The type in which a product is summed; that of alpha and beta too. */
cudaDataType_t product_sums(const Product *p);

/** Where column `column` of matrix z of the batch begins. */
void *blas_column(const BlasMatrix *x, int z, int column);

/** The bias that an epilogue adds, as a matrix of one column. */
BlasMatrix product_bias(const Product *p);

/** The second result, which an epilogue keeps for backward. */
BlasMatrix product_aux(const Product *p);

/** Whether A and B are read; with alpha = 0 or k = 0 they are not. */
bool product_has_factors(const Product *p);

/**
 * Checks the arguments, and fills in the scalars that can be read now. Of arrays of pointers only
 * the arrays: what is in them is known when the product runs.
 *
 * @return CUBLAS_STATUS_SUCCESS, or what the first thing that is wrong comes to; it was reported
 */
cublasStatus_t product_check(Product *p);

/**
 * Checks a number that a call of cuBLAS is given by its address, or writes there.
 *
 * @param function,place the call
 * @param device what the pointer mode says: the number is the device's
 * @param name of the parameter
 * @param number,bytes where it is, and its size
 * @return CUBLAS_STATUS_SUCCESS, or what was reported
 */
cublasStatus_t blas_check_number(const char *function, Place place, bool device, const char *name,
                                 const void *number, size_t bytes);

/** Whether the results of a batch by arrays of pointers are apart; if not, that was reported. */
bool product_check_results(const Product *p);

/** Product z of a batch by arrays of pointers. They are read: call it when the product runs. */
Product product_member(const Product *p, int z);

/** Whether the matrices of a member are good; what is wrong was reported. */
bool product_check_member(const Product *p);

/* ---- cublas_product.c ------------------------------------------------------------------------ */

/** Checks the arguments, reports what is wrong, and gives the work to a stream. */
cublasStatus_t product_submit(Product *product, cudaStream_t stream);

#endif
