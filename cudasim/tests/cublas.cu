/* Products of cublas_v2.h against sums in double: all types and transposes, gaps between columns
   and matrices, a batch by a stride or by arrays of pointers, alpha and beta in host or device
   memory. Runs on a GPU too. Prints the
   number of answers that were right. */
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 4096, BATCH = 3, BY_ARRAYS = 8 };
static int failures, questions;

#define CALL(call)                                                                                 \
    do {                                                                                           \
        int status_ = (int)(call);                                                                 \
        if (status_ != 0) {                                                                        \
            printf("%s:%d: status %d\n", __FILE__, __LINE__, status_);                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A batch of matrices, stored by columns, in host and device memory. */
typedef struct Numbers {
    cudaDataType_t type;
    int rows, columns, ld;
    long long stride;
    unsigned short half[ROOM]; /* or bf16 */
    float single[ROOM];
    void *device;
} Numbers;

static size_t bytes_of(const Numbers *x) {
    size_t last = (BATCH - 1) * (size_t)x->stride + (size_t)(x->columns - 1) * x->ld + x->rows;
    return last * (x->type == CUDA_R_32F ? 4 : 2);
}

static void *host_of(Numbers *x) {
    return x->type == CUDA_R_32F ? (void *)x->single : (void *)x->half;
}

static double number(const Numbers *x, int z, int row, int column) {
    size_t i = (size_t)z * x->stride + (size_t)column * x->ld + row;
    unsigned bits = x->half[i];
    return x->type == CUDA_R_32F   ? x->single[i]
           : x->type == CUDA_R_16F ? __half2float(__ushort_as_half((unsigned short)bits))
                                   : __bfloat162float(__ushort_as_bfloat16((unsigned short)bits));
}

/* Multiples of 1/8, which all types can hold. */
static void make(Numbers *x, cudaDataType_t type, int rows, int columns, int gap, int seed) {
    x->type = type;
    x->rows = rows;
    x->columns = columns;
    x->ld = rows + gap;
    x->stride = (long long)x->ld * columns + 5 * gap;
    for (int i = 0; i < ROOM; i++) {
        float value = (float)((i * 37 + seed) % 19 - 9) / 8;
        x->single[i] = value;
        x->half[i] = type == CUDA_R_16F ? __half_as_ushort(__float2half(value))
                                        : __bfloat16_as_ushort(__float2bfloat16(value));
    }
    CALL(cudaMalloc(&x->device, bytes_of(x)));
    CALL(cudaMemcpy(x->device, host_of(x), bytes_of(x), cudaMemcpyHostToDevice));
}

static void compare(const Numbers *C, const Numbers *before, const Numbers *A, const Numbers *B,
                    int transa, int transb, int k, float alpha, float beta) {
    double tolerance = C->type == CUDA_R_32F ? 1e-5 : C->type == CUDA_R_16F ? 1e-3 : 8e-3;
    for (int z = 0; z < BATCH; z++) {
        for (int i = 0; i < C->rows * C->columns; i++) {
            int row = i % C->rows, column = i / C->rows;
            double sum = 0;
            for (int p = 0; p < k; p++) {
                sum += (transa ? number(A, z, p, row) : number(A, z, row, p)) *
                       (transb ? number(B, z, column, p) : number(B, z, p, column));
            }
            double wanted = alpha * sum + beta * number(before, z, row, column);
            double got = number(C, z, row, column);
            questions++;
            if (!(fabs(got - wanted) <= tolerance * (1 + fabs(wanted)))) {
                failures++;
                printf("type %d, op %d %d, k %d: C[%d](%d,%d) is %g, not %g\n", C->type, transa,
                       transb, k, z, row, column, got, wanted);
            }
        }
    }
}

/* Device memory with the address of each matrix of the batch. */
static void **addresses(const Numbers *x) {
    void *each[BATCH], **table;
    for (int z = 0; z < BATCH; z++) {
        each[z] = (char *)x->device + z * x->stride * (x->type == CUDA_R_32F ? 4 : 2);
    }
    CALL(cudaMalloc((void **)&table, sizeof each));
    CALL(cudaMemcpy(table, each, sizeof each, cudaMemcpyHostToDevice));
    return table;
}

static void ask(cublasHandle_t handle, cudaDataType_t in, cudaDataType_t out, int form, int k,
                float beta) {
    static Numbers A, B, C, before;
    int transa = form & 1, transb = form >> 1 & 1, on_device = form >> 2 & 1, m = 11, n = 7;
    cublasOperation_t opa = transa ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t opb = transb ? CUBLAS_OP_T : CUBLAS_OP_N;
    float scalars[2] = {0.5f, beta}, *device_scalars;
    int inner = k > 0 ? k : 1;
    make(&A, in, transa ? inner : m, transa ? m : inner, 2, 1);
    make(&B, in, transb ? n : inner, transb ? inner : n, 0, 2);
    make(&C, out, m, n, 3, 3);
    before = C;
    CALL(cudaMalloc((void **)&device_scalars, sizeof scalars));
    CALL(cudaMemcpy(device_scalars, scalars, sizeof scalars, cudaMemcpyHostToDevice));
    const float *alpha_beta = on_device ? device_scalars : scalars;
    CALL(cublasSetPointerMode(handle,
                              on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
    void **a = addresses(&A), **b = addresses(&B), **c = addresses(&C);
    if (form & BY_ARRAYS) {
        CALL(cublasGemmBatchedEx(handle, opa, opb, m, n, k, alpha_beta, a, in, A.ld, b, in, B.ld,
                                 alpha_beta + 1, c, out, C.ld, BATCH, CUBLAS_COMPUTE_32F,
                                 CUBLAS_GEMM_DEFAULT));
    } else {
        CALL(cublasGemmStridedBatchedEx(handle, opa, opb, m, n, k, alpha_beta, A.device, in, A.ld,
                                        A.stride, B.device, in, B.ld, B.stride, alpha_beta + 1,
                                        C.device, out, C.ld, C.stride, BATCH, CUBLAS_COMPUTE_32F,
                                        CUBLAS_GEMM_DEFAULT));
    }
    /* The product has not run yet; in host mode it has read its scalars. */
    scalars[0] = 99;
    CALL(cudaMemcpy(host_of(&C), C.device, bytes_of(&C), cudaMemcpyDeviceToHost));
    compare(&C, &before, &A, &B, transa, transb, k, 0.5f, beta);
    for (void **table : {a, b, c}) {
        CALL(cudaFree(table));
    }
    for (void *device : {A.device, B.device, C.device, (void *)device_scalars}) {
        CALL(cudaFree(device));
    }
}

/* The other three functions, on what a batch of one is to the first. */
static void ask_short_forms(cublasHandle_t handle) {
    float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[3][4], one = 1, zero = 0, *device;
    CALL(cudaMalloc((void **)&device, 5 * sizeof a));
    CALL(cudaMemcpy(device, a, sizeof a, cudaMemcpyHostToDevice));
    CALL(cudaMemcpy(device + 4, b, sizeof b, cudaMemcpyHostToDevice));
    CALL(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    CALL(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, device, 2, device + 4, 2,
                     &zero, device + 8, 2));
    CALL(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, device, 2, 0,
                                   device + 4, 2, 0, &zero, device + 12, 2, 4, 1));
    CALL(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, device, CUDA_R_32F, 2,
                      device + 4, CUDA_R_32F, 2, &zero, device + 16, CUDA_R_32F, 2,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    CALL(cudaMemcpy(c, device + 8, sizeof c, cudaMemcpyDeviceToHost));
    CALL(cudaFree(device));
    static const float wanted[4] = {23, 34, 31, 46};
    for (int i = 0; i < 12; i++) {
        questions++;
        if (c[i / 4][i % 4] != wanted[i % 4]) {
            failures++;
            printf("short form %d: number %d is %g\n", i / 4, i % 4, (double)c[i / 4][i % 4]);
        }
    }
}

int main(void) {
    static const cudaDataType_t types[5][2] = {{CUDA_R_32F, CUDA_R_32F},
                                               {CUDA_R_16F, CUDA_R_16F},
                                               {CUDA_R_16F, CUDA_R_32F},
                                               {CUDA_R_16BF, CUDA_R_16BF},
                                               {CUDA_R_16BF, CUDA_R_32F}};
    cublasHandle_t handle;
    CALL(cublasCreate(&handle));
    for (int t = 0; t < 5; t++) {
        for (int form = 0; form < 2 * BY_ARRAYS; form++) {
            ask(handle, types[t][0], types[t][1], form, 9, 0);
            ask(handle, types[t][0], types[t][1], form, 9, -2);
            ask(handle, types[t][0], types[t][1], form, 0, -2);
        }
    }
    ask_short_forms(handle);
    CALL(cublasDestroy(handle));
    printf("%d of %d answers are right\n", questions - failures, questions);
    return failures != 0;
}
