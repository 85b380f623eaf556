/* A linear layer by cuBLASLt: product, bias and GELU in one call, against plain loops. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>

#include "check.cuh"

#define GOOD(call) MUST((call) == CUBLAS_STATUS_SUCCESS)

enum { ROWS = 7, IN = 16, OUT = 24 };

static float input[ROWS * IN], weight[OUT * IN], bias[OUT], output[ROWS * OUT], before[ROWS * OUT];

static float *to_device(const float *x, size_t bytes) {
    float *p;
    OK(cudaMalloc(&p, bytes));
    OK(cudaMemcpy(p, x, bytes, cudaMemcpyHostToDevice));
    return p;
}

static void set(cublasLtMatmulDesc_t matmul, cublasLtMatmulDescAttributes_t what, const void *value,
                size_t bytes) {
    GOOD(cublasLtMatmulDescSetAttribute(matmul, what, value, bytes));
}

/* output (ROWS, OUT) = input (ROWS, IN) weight^T (IN, OUT), by rows; by columns its transpose. */
static void run(cublasLtHandle_t handle, const float *x, const float *w, const float *b, float *y,
                float *aux) {
    cublasLtMatmulDesc_t matmul;
    cublasLtMatrixLayout_t w_layout, x_layout, y_layout;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t heuristic;
    cublasOperation_t turned = CUBLAS_OP_T, plain = CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue =
        aux != NULL ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_BIAS;
    size_t workspace = 0;
    int64_t aux_ld = OUT;
    int found = 0;
    float one = 1, zero = 0;
    GOOD(cublasLtMatmulDescCreate(&matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(matmul, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned);
    set(matmul, CUBLASLT_MATMUL_DESC_TRANSB, &plain, sizeof plain);
    set(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    set(matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &b, sizeof b);
    if (aux != NULL) {
        set(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux);
        set(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &aux_ld, sizeof aux_ld);
    }
    GOOD(cublasLtMatrixLayoutCreate(&w_layout, CUDA_R_32F, IN, OUT, IN));
    GOOD(cublasLtMatrixLayoutCreate(&x_layout, CUDA_R_32F, IN, ROWS, IN));
    GOOD(cublasLtMatrixLayoutCreate(&y_layout, CUDA_R_32F, OUT, ROWS, OUT));
    GOOD(cublasLtMatmulPreferenceCreate(&preference));
    GOOD(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &workspace, sizeof workspace));
    GOOD(cublasLtMatmulAlgoGetHeuristic(handle, matmul, w_layout, x_layout, y_layout, y_layout,
                                        preference, 1, &heuristic, &found));
    MUST(found == 1);
    GOOD(cublasLtMatmul(handle, matmul, &one, w, w_layout, x, x_layout, &zero, y, y_layout, y,
                        y_layout, &heuristic.algo, NULL, workspace, 0));
    OK(cudaDeviceSynchronize());
    GOOD(cublasLtMatmulPreferenceDestroy(preference));
    GOOD(cublasLtMatrixLayoutDestroy(w_layout));
    GOOD(cublasLtMatrixLayoutDestroy(x_layout));
    GOOD(cublasLtMatrixLayoutDestroy(y_layout));
    GOOD(cublasLtMatmulDescDestroy(matmul));
}

static float wanted(int row, int column) {
    float sum = bias[column];
    for (int i = 0; i < IN; i++) {
        sum += input[row * IN + i] * weight[column * IN + i];
    }
    return sum;
}

static float gelu(float x) {
    return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

int main() {
    for (int i = 0; i < ROWS * IN; i++) {
        input[i] = (float)(i % 5 - 2) / 4;
    }
    for (int i = 0; i < OUT * IN; i++) {
        weight[i] = (float)(i % 7 - 3) / 8;
    }
    for (int i = 0; i < OUT; i++) {
        bias[i] = (float)i / 8 - 1;
    }
    cublasLtHandle_t handle;
    GOOD(cublasLtCreate(&handle));
    float *x = to_device(input, sizeof input), *w = to_device(weight, sizeof weight);
    float *b = to_device(bias, sizeof bias), *y, *aux;
    OK(cudaMalloc(&y, sizeof output));
    OK(cudaMalloc(&aux, sizeof before));
    run(handle, x, w, b, y, NULL);
    OK(cudaMemcpy(output, y, sizeof output, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ROWS * OUT; i++) {
        MUST(fabsf(output[i] - wanted(i / OUT, i % OUT)) < 1e-4f);
    }
    cublasHandle_t plain; /* of cuBLAS, which serves as one of cuBLASLt */
    GOOD(cublasCreate(&plain));
    run((cublasLtHandle_t)plain, x, w, b, y, aux);
    GOOD(cublasDestroy(plain));
    OK(cudaMemcpy(output, y, sizeof output, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(before, aux, sizeof before, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ROWS * OUT; i++) {
        MUST(fabsf(before[i] - wanted(i / OUT, i % OUT)) < 1e-4f);
        MUST(fabsf(output[i] - gelu(wanted(i / OUT, i % OUT))) < 1e-3f);
    }
    GOOD(cublasLtDestroy(handle));
    OK(cudaFree(x));
    OK(cudaFree(w));
    OK(cudaFree(b));
    OK(cudaFree(y));
    OK(cudaFree(aux));
    return 0;
}
