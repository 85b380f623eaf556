/* A program that ends while a kernel and products are still queued: CUDA does not wait for them,
   the simulator runs them for what they may report. It must end as if it had waited, with the right
   numbers, though the library that multiplies may already be gone. */
#include <cublas_v2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 256, M = 16, FORMS = 4 };

static const cublasOperation_t form[FORMS][2] = {{CUBLAS_OP_N, CUBLAS_OP_N},
                                                 {CUBLAS_OP_T, CUBLAS_OP_N},
                                                 {CUBLAS_OP_N, CUBLAS_OP_T},
                                                 {CUBLAS_OP_T, CUBLAS_OP_T}};
static float factors[2 * N * N], *product; /* host memory; `product` holds (FORMS, N, M) */

static __global__ void add_one(float *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

/* op(X)[i, j] of a matrix that is stored by columns of `rows` elements. */
static float element(const float *x, cublasOperation_t operation, int rows, int i, int j) {
    return operation == CUBLAS_OP_N ? x[i + j * rows] : x[j + i * rows];
}

/* Of op(A) op(B), where A has M rows and N columns, B N rows and N columns; both grew by 1. */
static float wanted(int f, int i, int j) {
    const float *A = factors, *B = factors + N * N;
    float sum = 0;
    for (int k = 0; k < N; k++) {
        sum += (element(A, form[f][0], form[f][0] == CUBLAS_OP_N ? M : N, i, k) + 1) *
               (element(B, form[f][1], N, k, j) + 1);
    }
    return sum;
}

/* Registered before the simulator begins, so called after it has done what was queued. */
static void look(void) {
    int wrong = 0;
    for (int f = 0; f < FORMS; f++) {
        for (int i = 0; i < M * N; i++) {
            float want = wanted(f, i % M, i / M);
            wrong += !(fabsf(product[f * M * N + i] - want) <= 1e-4f * fabsf(want));
        }
    }
    printf("%s\n", wrong == 0 ? "good" : "wrong numbers");
    fflush(NULL);
    if (wrong > 0) {
        _exit(1);
    }
}

int main() {
    float *x, one = 1, zero = 0;
    cublasHandle_t handle;
    atexit(look);
    for (int i = 0; i < 2 * N * N; i++) {
        factors[i] = (float)(i % 13) - 3 + (float)(i % 7);
    }
    int status = (int)cudaMalloc(&x, 3 * N * N * sizeof(float)) + (int)cublasCreate(&handle) +
                 (int)cudaMallocHost((void **)&product, FORMS * M * N * sizeof(float)) +
                 (int)cudaMemcpy(x, factors, sizeof factors, cudaMemcpyHostToDevice);
    /* For this shape oneDNN has a way of its own: what the others need it makes later. */
    status += (int)cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, N, 36, 16, &one, x, 16, x, 16,
                               &zero, x + 2 * N * N, N) +
              (int)cudaDeviceSynchronize();
    add_one<<<2 * N, N>>>(x);
    /* Each form has been used and waited for, one after the other; then all are left behind. */
    for (int i = 0; i < 2 * FORMS; i++) {
        int f = i % FORMS;
        float *to = x + 2 * N * N;
        status += (int)cudaMemsetAsync(to, 0, M * N * sizeof(float), 0) +
                  (int)cublasSgemm(handle, form[f][0], form[f][1], M, N, N, &one, x,
                                   form[f][0] == CUBLAS_OP_N ? M : N, x + N * N, N, &zero, to, M) +
                  (int)cudaMemcpyAsync(product + f * M * N, to, M * N * sizeof(float),
                                       cudaMemcpyDeviceToHost, 0);
        if (i < FORMS) {
            status += (int)cudaDeviceSynchronize();
            product[f * M * N] = -1; /* to be written once more */
        }
    }
    status += (int)cudaGetLastError();
    exit(status);
}
