/**
 * @file cublas_v2.h
 * @brief The part of cuBLAS that cudasim offers: products of float, fp16 and bf16 matrices.
 * @ingroup cudasim
 *
 * Sums are floats. Where a program asks for sums in fp16, they are rounded after each term, and
 * alpha and beta are fp16, too; a GPU may keep more between two terms. A product is work of the
 * handle's stream: arguments are checked at the call, alpha and beta are read then too unless the
 * pointer mode is device, and the matrices are read and written when the stream runs. What a status
 * would tell is also reported with the line of the call.
 */
#ifndef CUDASIM_CUBLAS_V2_H
#define CUDASIM_CUBLAS_V2_H

/** @cond */
/* By this name programs ask whether cublasStatus_t is there. */
#define CUBLAS_API_H_
/** @endcond */

#ifdef __cplusplus
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#endif
#include "cuda_runtime.h"
#include "cudasim_unsupported.h"
#include "library_types.h"

/** Where a stream, a pointer mode and a workspace are kept. */
typedef struct cublasContext *cublasHandle_t;

/** The outcome of a call. The numbers are NVIDIA's. */
typedef enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

/** How a stored matrix is taken. */
typedef enum cublasOperation_t {
    CUBLAS_OP_N = 0, /**< the matrix */
    CUBLAS_OP_T = 1, /**< its transpose */
    CUBLAS_OP_C = 2  /**< the same for real numbers */
} cublasOperation_t;

/** Where alpha and beta are. */
typedef enum cublasPointerMode_t {
    CUBLAS_POINTER_MODE_HOST = 0,
    CUBLAS_POINTER_MODE_DEVICE = 1
} cublasPointerMode_t;

/** Which units a GPU may use; they make no difference here. */
typedef enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;

/** Whether a GPU may sum in any order; it never does here. */
typedef enum cublasAtomicsMode_t {
    CUBLAS_ATOMICS_NOT_ALLOWED = 0,
    CUBLAS_ATOMICS_ALLOWED = 1
} cublasAtomicsMode_t;

/** In what is summed. */
typedef enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64,           /**< fp16, rounded after each term */
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,  /**< the same */
    CUBLAS_COMPUTE_32F = 68,           /**< float */
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,  /**< float */
    CUBLAS_COMPUTE_64F = 70,           /**< not simulated */
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,  /**< not simulated */
    CUBLAS_COMPUTE_32I = 72,           /**< not simulated */
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,  /**< not simulated */
    CUBLAS_COMPUTE_32F_FAST_16F = 74,  /**< float */
    CUBLAS_COMPUTE_32F_FAST_16BF = 75, /**< float */
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77  /**< float */
} cublasComputeType_t;

/** Which kernel a GPU uses; they make no difference here. */
typedef enum cublasGemmAlgo_t {
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
} cublasGemmAlgo_t;

#ifdef __cplusplus
extern "C" {
#endif
/** @cond */
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cudasim_blas_create(CUDASIM_PLACE, cublasHandle_t *handle);
cublasStatus_t cudasim_blas_destroy(CUDASIM_PLACE, cublasHandle_t handle);
cublasStatus_t cudasim_blas_get_version(CUDASIM_PLACE, cublasHandle_t handle, int *version);
cublasStatus_t cudasim_blas_set_stream(CUDASIM_PLACE, cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cudasim_blas_get_stream(CUDASIM_PLACE, cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cudasim_blas_set_workspace(CUDASIM_PLACE, cublasHandle_t handle, void *workspace,
                                          size_t bytes);
cublasStatus_t cudasim_blas_set_pointer_mode(CUDASIM_PLACE, cublasHandle_t handle,
                                             cublasPointerMode_t mode);
cublasStatus_t cudasim_blas_get_pointer_mode(CUDASIM_PLACE, cublasHandle_t handle,
                                             cublasPointerMode_t *mode);
/* The begin of a call that becomes a kernel: where the work goes, and whose its scalars are. */
cublasStatus_t cudasim_blas_begin(CUDASIM_PLACE, cublasHandle_t handle, const char *function,
                                  cudaStream_t *stream, int *on_device);
/* Is a number where the pointer mode says? */
cublasStatus_t cudasim_blas_number(CUDASIM_PLACE, const char *function, int on_device,
                                   const char *name, const void *number, size_t bytes);
cublasStatus_t cudasim_blas_set_math_mode(CUDASIM_PLACE, cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cudasim_blas_get_math_mode(CUDASIM_PLACE, cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cudasim_blas_set_atomics_mode(CUDASIM_PLACE, cublasHandle_t handle,
                                             cublasAtomicsMode_t mode);

cublasStatus_t cudasim_blas_sgemm(CUDASIM_PLACE, cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k, const float *alpha,
                                  const float *matrixA, int lda, const float *matrixB, int ldb,
                                  const float *beta, float *matrixC, int ldc);
cublasStatus_t cudasim_blas_sgemm_strided_batched(
    CUDASIM_PLACE, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
    int n, int k, const float *alpha, const float *matrixA, int lda, long long strideA,
    const float *matrixB, int ldb, long long strideB, const float *beta, float *matrixC, int ldc,
    long long strideC, int batchCount);
/* `function` is the name by which a program has called. */
cublasStatus_t cudasim_blas_gemm_ex(CUDASIM_PLACE, const char *function, cublasHandle_t handle,
                                    cublasOperation_t transa, cublasOperation_t transb, int m,
                                    int n, int k, const void *alpha, const void *matrixA,
                                    cudaDataType_t Atype, int lda, const void *matrixB,
                                    cudaDataType_t Btype, int ldb, const void *beta, void *matrixC,
                                    cudaDataType_t Ctype, int ldc, cublasComputeType_t computeType,
                                    cublasGemmAlgo_t algo);
cublasStatus_t cudasim_blas_gemm_strided_batched_ex(
    CUDASIM_PLACE, const char *function, cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const void *alpha, const void *matrixA,
    cudaDataType_t Atype, int lda, long long strideA, const void *matrixB, cudaDataType_t Btype,
    int ldb, long long strideB, const void *beta, void *matrixC, cudaDataType_t Ctype, int ldc,
    long long strideC, int batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cudasim_blas_gemm_batched_ex(
    CUDASIM_PLACE, const char *function, cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const void *alpha, const void *const matrixA[],
    cudaDataType_t Atype, int lda, const void *const matrixB[], cudaDataType_t Btype, int ldb,
    const void *beta, void *const matrixC[], cudaDataType_t Ctype, int ldc, int batchCount,
    cublasComputeType_t computeType, cublasGemmAlgo_t algo);

#define cublasCreate(handle) cudasim_blas_create(CUDASIM_HERE, (handle))
#define cublasDestroy(handle) cudasim_blas_destroy(CUDASIM_HERE, (handle))
#define cublasGetVersion(...) cudasim_blas_get_version(CUDASIM_HERE, __VA_ARGS__)
#define cublasSetStream(...) cudasim_blas_set_stream(CUDASIM_HERE, __VA_ARGS__)
#define cublasGetStream(...) cudasim_blas_get_stream(CUDASIM_HERE, __VA_ARGS__)
#define cublasSetWorkspace(...) cudasim_blas_set_workspace(CUDASIM_HERE, __VA_ARGS__)
#define cublasSetPointerMode(...) cudasim_blas_set_pointer_mode(CUDASIM_HERE, __VA_ARGS__)
#define cublasGetPointerMode(...) cudasim_blas_get_pointer_mode(CUDASIM_HERE, __VA_ARGS__)
#define cublasSetMathMode(...) cudasim_blas_set_math_mode(CUDASIM_HERE, __VA_ARGS__)
#define cublasGetMathMode(...) cudasim_blas_get_math_mode(CUDASIM_HERE, __VA_ARGS__)
#define cublasSetAtomicsMode(...) cudasim_blas_set_atomics_mode(CUDASIM_HERE, __VA_ARGS__)
#define cublasSgemm(...) cudasim_blas_sgemm(CUDASIM_HERE, __VA_ARGS__)
#define cublasSgemmStridedBatched(...) cudasim_blas_sgemm_strided_batched(CUDASIM_HERE, __VA_ARGS__)
#define cublasGemmEx(...) cudasim_blas_gemm_ex(CUDASIM_HERE, "cublasGemmEx", __VA_ARGS__)
#define cublasGemmStridedBatchedEx(...)                                                            \
    cudasim_blas_gemm_strided_batched_ex(CUDASIM_HERE, "cublasGemmStridedBatchedEx", __VA_ARGS__)
#define cublasGemmBatchedEx(...)                                                                   \
    cudasim_blas_gemm_batched_ex(CUDASIM_HERE, "cublasGemmBatchedEx", __VA_ARGS__)

#define CUDASIM_NO_PRODUCT(name, message)                                                          \
    CUDASIM_NO(message) cublasStatus_t name(cublasHandle_t handle, ...);
#ifndef __cplusplus
CUDASIM_NO_PRODUCT(cublasDgemm, "products of doubles in C; compile the file as C++")
CUDASIM_NO_PRODUCT(cublasSgemv, "matrix times vector in C; compile the file as C++")
CUDASIM_NO_PRODUCT(cublasSaxpy, "vector operations in C; compile the file as C++")
#endif
#include "cublas_unsupported.h"
/** @endcond */
#ifdef __cplusplus
}
#include "cublas_vector.h"
#endif

#endif
