/* cuBLAS on vectors, on a matrix and a vector, in doubles, by arrays of pointers; its copies
   between host and device. */
#include <cublas_v2.h>
#include <math.h>

#include "check.cuh"

#define GOOD(call) MUST((call) == CUBLAS_STATUS_SUCCESS)

enum { N = 50, ROWS = 5, COLUMNS = 3 };

static cublasHandle_t handle;

static bool close_to(double x, double y) {
    return fabs(x - y) <= 1e-5 * (1 + fabs(y));
}

static void vectors(void) {
    float x[2 * N], y[N], result, factor = 2, *dx, *dy;
    double dot = 0, sum = 0, norm = 0;
    for (int i = 0; i < 2 * N; i++) {
        x[i] = 0.25f * (i % 7) - 1;
    }
    x[2 * 9] = -8;
    for (int i = 0; i < N; i++) {
        y[i] = i;
        dot += x[2 * i] * y[i];
        sum += fabsf(x[2 * i]);
        norm += x[2 * i] * x[2 * i];
    }
    OK(cudaMalloc(&dx, sizeof x));
    OK(cudaMalloc(&dy, sizeof y));
    GOOD(cublasSetVector(2 * N, sizeof *x, x, 1, dx, 1));
    GOOD(cublasSetVector(N, sizeof *y, y, 1, dy, 1));
    GOOD(cublasSdot(handle, N, dx, 2, dy, 1, &result));
    MUST(close_to(result, dot));
    GOOD(cublasSasum(handle, N, dx, 2, &result));
    MUST(close_to(result, sum));
    GOOD(cublasSnrm2(handle, N, dx, 2, &result));
    MUST(close_to(result, sqrt(norm)));
    int place;
    GOOD(cublasIsamax(handle, N, dx, 2, &place));
    MUST(place == 10);
    GOOD(cublasIsamin(handle, N, dx, 2, &place));
    MUST(place == 3); /* x[4] is 0 */
    GOOD(cublasSaxpy(handle, N, &factor, dx, 2, dy, 1));
    GOOD(cublasSscal(handle, N, &factor, dy, 1));
    GOOD(cublasSswap(handle, N, dx, 1, dy, 1));
    GOOD(cublasScopy(handle, N, dx, 1, dy, -1)); /* from the end on */
    float back[N];
    GOOD(cublasGetVector(N, sizeof *back, dy, 1, back, 1));
    for (int i = 0; i < N; i++) {
        MUST(close_to(back[N - 1 - i], 2 * (y[i] + 2 * x[2 * i])));
    }
    float *scalar; /* a result, then a factor, that stays on the device */
    OK(cudaMalloc(&scalar, sizeof *scalar));
    GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    GOOD(cublasSnrm2(handle, N, dy, 1, scalar));
    GOOD(cublasSaxpy(handle, N, scalar, dy, 1, dx, 1));
    GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(scalar));
    OK(cudaFree(dx));
    OK(cudaFree(dy));
}

static void matrices(void) {
    double A[ROWS * COLUMNS], x[COLUMNS] = {1, 2, 3}, y[ROWS], one = 1, zero = 0, *dA, *dx, *dy,
                              *dC;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        A[i] = i;
    }
    OK(cudaMalloc(&dA, sizeof A));
    OK(cudaMalloc(&dx, sizeof x));
    OK(cudaMalloc(&dy, sizeof y));
    OK(cudaMalloc(&dC, COLUMNS * COLUMNS * sizeof *dC));
    GOOD(cublasSetMatrixAsync(ROWS, COLUMNS, sizeof *A, A, ROWS, dA, ROWS, 0));
    GOOD(cublasSetVectorAsync(COLUMNS, sizeof *x, x, 1, dx, 1, 0));
    GOOD(cublasGetMatrixAsync(ROWS, COLUMNS, sizeof *A, dA, ROWS, A, ROWS, 0));
    GOOD(cublasGetVectorAsync(COLUMNS, sizeof *x, dx, 1, x, 1, 0));
    OK(cudaDeviceSynchronize());
    GOOD(cublasSetMatrix(ROWS, COLUMNS, sizeof *A, A, ROWS, dA, ROWS));
    GOOD(cublasSetVector(COLUMNS, sizeof *x, x, 1, dx, 1));
    GOOD(cublasDgemv(handle, CUBLAS_OP_N, ROWS, COLUMNS, &one, dA, ROWS, dx, 1, &zero, dy, 1));
    GOOD(cublasGetVector(ROWS, sizeof *y, dy, 1, y, 1));
    for (int row = 0; row < ROWS; row++) {
        MUST(close_to(y[row], 6 * row + 40));
    }
    GOOD(cublasDgemv(handle, CUBLAS_OP_T, ROWS, COLUMNS, &one, dA, ROWS, dy, 1, &one, dx, 1));
    GOOD(cublasGetVector(COLUMNS, sizeof *x, dx, 1, x, 1));
    MUST(close_to(x[0], 1 + 0 * 40 + 1 * 46 + 2 * 52 + 3 * 58 + 4 * 64));
    GOOD(cublasDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, COLUMNS, COLUMNS, ROWS, &one, dA, ROWS, dA,
                     ROWS, &zero, dC, COLUMNS));
    double C[COLUMNS * COLUMNS];
    GOOD(cublasGetMatrix(COLUMNS, COLUMNS, sizeof *C, dC, COLUMNS, C, COLUMNS));
    MUST(close_to(C[0], 0 + 1 + 4 + 9 + 16) && close_to(C[1], C[COLUMNS]) &&
         close_to(C[8], 100 + 121 + 144 + 169 + 196));
    GOOD(cublasDger(handle, COLUMNS, COLUMNS, &one, dx, 1, dx, 1, dC, COLUMNS));
    double *dT; /* A and its transpose */
    OK(cudaMalloc(&dT, sizeof A));
    GOOD(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, COLUMNS, ROWS, &one, dA, ROWS, &zero, dT,
                     COLUMNS, dT, COLUMNS));
    GOOD(cublasGetMatrix(COLUMNS, ROWS, sizeof *A, dT, COLUMNS, A, COLUMNS));
    MUST(close_to(A[1], ROWS) && close_to(A[COLUMNS], 1));
    OK(cudaFree(dT));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(dA));
    OK(cudaFree(dx));
    OK(cudaFree(dy));
    OK(cudaFree(dC));
}

static void batches(void) {
    enum { BATCH = 3 };
    float host[4 * BATCH], one = 1, zero = 0, *memory, *results, *pointers[2][BATCH], **A, **C;
    for (int i = 0; i < 4 * BATCH; i++) {
        host[i] = i;
    }
    OK(cudaMalloc(&memory, sizeof host));
    OK(cudaMalloc(&results, sizeof host));
    OK(cudaMalloc(&A, sizeof pointers[0]));
    OK(cudaMalloc(&C, sizeof pointers[1]));
    for (int z = 0; z < BATCH; z++) {
        pointers[0][z] = memory + 4 * z;
        pointers[1][z] = results + 4 * (BATCH - 1 - z);
    }
    OK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(A, pointers[0], sizeof pointers[0], cudaMemcpyHostToDevice));
    OK(cudaMemcpy(C, pointers[1], sizeof pointers[1], cudaMemcpyHostToDevice));
    GOOD(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, A, 2, A, 2, &zero, C,
                            2, BATCH));
    OK(cudaMemcpy(host, results, sizeof host, cudaMemcpyDeviceToHost));
    GOOD(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, memory, CUDA_R_32F, 2,
                      memory, CUDA_R_32F, 2, &zero, results, CUDA_R_32F, 2, CUDA_R_32F,
                      CUBLAS_GEMM_DEFAULT));
    float older;
    OK(cudaMemcpy(&older, results, sizeof older, cudaMemcpyDeviceToHost));
    MUST(older == host[8]);
    MUST(close_to(host[8], 2) &&
         close_to(host[0], 8 * 8 + 10 * 9)); /* {{0, 2}, {1, 3}} squared, {{8, 10}, ...} */
    OK(cudaFree(memory));
    OK(cudaFree(results));
    OK(cudaFree(A));
    OK(cudaFree(C));
}

/* Managed memory is the host's as well, and pinned memory the device's: both modes take either. */
static void scalars_of_both(void) {
    float *of_both[2], *x;
    OK(cudaMallocManaged(&of_both[0], 3 * sizeof(float)));
    OK(cudaMallocHost(&of_both[1], 3 * sizeof(float)));
    OK(cudaMallocManaged(&x, 4 * sizeof(float)));
    for (int i = 0; i < 4; i++) {
        float *alpha = of_both[i % 2], *beta = alpha + 1, *result = alpha + 2;
        GOOD(cublasSetPointerMode(handle,
                                  i < 2 ? CUBLAS_POINTER_MODE_HOST : CUBLAS_POINTER_MODE_DEVICE));
        *alpha = 2, *beta = 0;
        x[0] = 3, x[1] = 4, x[2] = x[3] = 0;
        GOOD(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, alpha, x, 2, x, 1, beta, x + 2,
                         2));
        GOOD(cublasSscal(handle, 2, alpha, x, 1));
        GOOD(cublasSdot(handle, 2, x, 1, x + 2, 1, result));
        OK(cudaDeviceSynchronize());
        MUST(x[2] == 18 && x[3] == 24 && *result == 6 * 18 + 8 * 24);
    }
    GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    OK(cudaFree(x));
    OK(cudaFreeHost(of_both[1]));
    OK(cudaFree(of_both[0]));
}

int main() {
    GOOD(cublasCreate(&handle));
    vectors();
    scalars_of_both();
    matrices();
    batches();
    GOOD(cublasDestroy(handle));
}
