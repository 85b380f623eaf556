/* Matrix products on the GPU by cuBLAS, which stores columns: what is C = A B to us is C^T = B^T
   A^T to it. So A and B change places. The contract is in gemm.h. */
#include "kernels/gemm.h"

#include <cublas_v2.h>

static cudaDataType_t type_of(Matrix matrix) {
    switch (matrix.precision) {
    case F16:
        return CUDA_R_16F;
    case BF16:
        return CUDA_R_16BF;
    default:
        return CUDA_R_32F;
    }
}

static cublasOperation_t operation(Matrix factor) {
    return factor.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

void gemm(Matrix C, float alpha, Matrix A, Matrix B, float beta, int M, int N, int K, int batch,
          const Workspace *workspace) {
    CHECK(!C.transposed, "the result of a product cannot be transposed");
    CHECK(A.precision == B.precision && (C.precision == A.precision || C.precision == F32),
          "cannot multiply %s by %s into %s", precision_name(A.precision),
          precision_name(B.precision), precision_name(C.precision));
    CHECK(workspace->blas != NULL, "a product needs a cuBLAS handle");
    if (M == 0 || N == 0 || batch == 0) {
        return;
    }
    cublasStatus_t status = cublasGemmStridedBatchedEx(
        workspace->blas, operation(B), operation(A), N, M, K, &alpha, B.data, type_of(B), B.ld,
        (long long)B.stride, A.data, type_of(A), A.ld, (long long)A.stride, &beta, C.data,
        type_of(C), C.ld, (long long)C.stride, batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    CHECK(status == CUBLAS_STATUS_SUCCESS, "cuBLAS, (%d, %d) (%d, %d) in %s: %s", M, K, K, N,
          precision_name(A.precision), cublasGetStatusString(status));
}
