/* Products of fp16 that are summed in fp16, by all calls that take them. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include "check.cuh"

#define GOOD(call) MUST((call) == CUBLAS_STATUS_SUCCESS)

enum { N = 2, NUMBERS = N * N, BATCH = 2 };

static __half *A, *C, **A_each, **C_each, **B_each;

/* (BATCH) matrices of 2 by 2, by columns, and their products with themselves, halved. Each sum of
   the second matrix is beyond fp16, though its half is not. */
static const float factors[BATCH * NUMBERS] = {0, 1, 2, 3, 200, 200, 200, 200};
static const float halves[NUMBERS] = {1, 1.5f, 3, 5.5f};

static void expect(int batch) {
    __half product[BATCH * NUMBERS];
    OK(cudaMemcpy(product, C, sizeof product, cudaMemcpyDeviceToHost));
    OK(cudaMemset(C, 0, sizeof product));
    for (int i = 0; i < NUMBERS; i++) {
        MUST(__half2float(product[i]) == halves[i]);
        MUST(batch == 1 ? __half2float(product[NUMBERS + i]) == 0 : __hisinf(product[NUMBERS + i]));
    }
}

static void setup(void) {
    __half numbers[BATCH * NUMBERS], *each[2][BATCH];
    OK(cudaMalloc(&A, sizeof numbers));
    OK(cudaMalloc(&C, sizeof numbers));
    OK(cudaMalloc(&A_each, sizeof each[0]));
    OK(cudaMalloc(&B_each, sizeof each[0]));
    OK(cudaMalloc(&C_each, sizeof each[1]));
    for (int i = 0; i < BATCH * NUMBERS; i++) {
        numbers[i] = __float2half(factors[i]);
    }
    for (int z = 0; z < BATCH; z++) {
        each[0][z] = A + NUMBERS * z;
        each[1][z] = C + NUMBERS * z;
    }
    OK(cudaMemcpy(A, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    OK(cudaMemset(C, 0, sizeof numbers));
    OK(cudaMemcpy(A_each, each[0], sizeof each[0], cudaMemcpyHostToDevice));
    OK(cudaMemcpy(B_each, each[0], sizeof each[0], cudaMemcpyHostToDevice));
    OK(cudaMemcpy(C_each, each[1], sizeof each[1], cudaMemcpyHostToDevice));
}

static void by_cublas(const __half *half, const __half *zero) {
    cublasHandle_t handle;
    const cublasOperation_t op = CUBLAS_OP_N;
    GOOD(cublasCreate(&handle));
    GOOD(cublasHgemm(handle, op, op, N, N, N, half, A, N, A, N, zero, C, N));
    expect(1);
    GOOD(cublasGemmEx(handle, op, op, N, N, N, half, A, CUDA_R_16F, N, A, CUDA_R_16F, N, zero, C,
                      CUDA_R_16F, N, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT));
    expect(1);
    GOOD(cublasHgemmStridedBatched(handle, op, op, N, N, N, half, A, N, NUMBERS, A, N, NUMBERS,
                                   zero, C, N, NUMBERS, BATCH));
    expect(BATCH);
    GOOD(cublasHgemmBatched(handle, op, op, N, N, N, half, A_each, N, B_each, N, zero, C_each, N,
                            BATCH));
    expect(BATCH);
    __half *scalars;
    OK(cudaMalloc(&scalars, 2 * sizeof *scalars));
    OK(cudaMemcpy(scalars, half, sizeof *half, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(scalars + 1, zero, sizeof *zero, cudaMemcpyHostToDevice));
    GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    GOOD(cublasHgemm(handle, op, op, N, N, N, scalars, A, N, A, N, scalars + 1, C, N));
    expect(1);
    OK(cudaFree(scalars));
    GOOD(cublasDestroy(handle));
}

static void by_cublaslt(const __half *half, const __half *zero) {
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t matmul;
    cublasLtMatrixLayout_t layout;
    GOOD(cublasLtCreate(&handle));
    GOOD(cublasLtMatmulDescCreate(&matmul, CUBLAS_COMPUTE_16F, CUDA_R_16F));
    GOOD(cublasLtMatrixLayoutCreate(&layout, CUDA_R_16F, N, N, N));
    GOOD(cublasLtMatmul(handle, matmul, half, A, layout, A, layout, zero, C, layout, C, layout,
                        NULL, NULL, 0, 0));
    expect(1);
    GOOD(cublasLtMatrixLayoutDestroy(layout));
    GOOD(cublasLtMatmulDescDestroy(matmul));
    GOOD(cublasLtDestroy(handle));
}

int main() {
    __half half = __float2half(0.5f), zero = __float2half(0);
    setup();
    by_cublas(&half, &zero);
    by_cublaslt(&half, &zero);
    OK(cudaFree(A));
    OK(cudaFree(C));
    OK(cudaFree(A_each));
    OK(cudaFree(B_each));
    OK(cudaFree(C_each));
}
