/**
 * @file cublas_vector.h
 * @brief cuBLAS's operations on vectors, on a matrix and a vector, and its products of doubles, for
 * C++. Included by cublas_v2.h.
 * @ingroup cudasim
 *
 * Each is a kernel like any other: it runs in the handle's stream, and check mode looks at what it
 * reads and writes. Sums are doubles. A result for the host is there when the call returns. Calls
 * are macros that add file and line.
 */
#ifndef CUDASIM_CUBLAS_VECTOR_H
#define CUDASIM_CUBLAS_VECTOR_H

/** @cond */
/* The begin of each call: where the work goes, and how it reads its scalars. */
struct cudasim_blas_call {
    const char *file;
    int line;
    const char *name;
    cublasHandle_t handle;
    cudaStream_t stream;
    int on_device;
    cublasStatus_t status;

    cudasim_blas_call(const char *file_, int line_, const char *name_, cublasHandle_t handle_)
        : file(file_), line(line_), name(name_), handle(handle_), stream(0), on_device(0) {
        status = cudasim_blas_begin(file, line, handle, name, &stream, &on_device);
    }
    /* A number that is read, or written, where the pointer mode says. */
    template <class Type> bool has(const char *parameter, const Type *number) {
        if (status == CUBLAS_STATUS_SUCCESS) {
            status =
                cudasim_blas_number(file, line, name, on_device, parameter, number, sizeof(Type));
        }
        return status == CUBLAS_STATUS_SUCCESS;
    }
    /* Blocks of one thread. */
    template <class... Parameters, class... Arguments>
    cublasStatus_t launch(int blocks, void (*kernel)(Parameters...), Arguments... values) const {
        if (status != CUBLAS_STATUS_SUCCESS || blocks <= 0) {
            return status;
        }
        cudasim_launch(file, line, name, kernel, dim3((unsigned)blocks), dim3(1), 0,
                       stream)(values...);
        return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                    : CUBLAS_STATUS_EXECUTION_FAILED;
    }
    /* A kernel that gives one number: to the device, or to the host, which waits for it. */
    template <class Result, class... Parameters, class... Arguments>
    cublasStatus_t reduce(Result *result, void (*kernel)(Result *, Parameters...),
                          Arguments... values) {
        if (!has("result", result) || on_device) {
            return launch(1, kernel, result, values...);
        }
        Result *memory = NULL;
        if (cudasim_malloc(file, line, (void **)&memory, sizeof(Result)) != cudaSuccess) {
            return CUBLAS_STATUS_ALLOC_FAILED;
        }
        cublasStatus_t launched = launch(1, kernel, memory, values...);
        cudasim_memcpy_async(file, line, result, memory, sizeof(Result), cudaMemcpyDeviceToHost,
                             stream);
        cudasim_stream_synchronize(file, line, stream);
        cudasim_free(file, line, memory);
        return launched;
    }
};

/* A number that the host has given, or that the kernel reads. */
template <class Type> struct cudasim_blas_scalar {
    Type value;
    const Type *at;
    cudasim_blas_scalar(cudasim_blas_call &call, const char *name, const Type *given)
        : value(0), at(call.on_device ? given : NULL) {
        if (call.has(name, given) && !call.on_device) {
            value = *given;
        }
    }
    Type get() const {
        return at != NULL ? *at : value;
    }
};

/* Where number i of a vector lies: one with a negative step begins at its end. */
CUDASIM_DEVICE long cudasim_at(int i, int n, int step) {
    return (long)(step < 0 ? i - n + 1 : i) * step;
}
/* Row and column of op(A). */
CUDASIM_DEVICE size_t cudasim_in(cublasOperation_t operation, int row, int column, int ld) {
    return operation == CUBLAS_OP_N ? row + (size_t)column * ld : column + (size_t)row * ld;
}

/* ---- vectors --------------------------------------------------------------------------------- */

template <class Type>
void cudasim_axpy(int n, cudasim_blas_scalar<Type> alpha, const Type *x, int incx, Type *y,
                  int incy) {
    for (int i = 0; i < n; i++) {
        y[cudasim_at(i, n, incy)] += alpha.get() * x[cudasim_at(i, n, incx)];
    }
}
template <class Type> void cudasim_scal(int n, cudasim_blas_scalar<Type> alpha, Type *x, int incx) {
    for (int i = 0; i < n; i++) {
        x[cudasim_at(i, n, incx)] *= alpha.get();
    }
}
template <class Type> void cudasim_vector_copy(int n, const Type *x, int incx, Type *y, int incy) {
    for (int i = 0; i < n; i++) {
        y[cudasim_at(i, n, incy)] = x[cudasim_at(i, n, incx)];
    }
}
template <class Type> void cudasim_swap(int n, Type *x, int incx, Type *y, int incy) {
    for (int i = 0; i < n; i++) {
        Type kept = x[cudasim_at(i, n, incx)];
        x[cudasim_at(i, n, incx)] = y[cudasim_at(i, n, incy)];
        y[cudasim_at(i, n, incy)] = kept;
    }
}
template <class Type>
void cudasim_dot(Type *result, int n, const Type *x, int incx, const Type *y, int incy) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += (double)x[cudasim_at(i, n, incx)] * (double)y[cudasim_at(i, n, incy)];
    }
    *result = (Type)sum;
}
template <class Type> void cudasim_nrm2(Type *result, int n, const Type *x, int incx) {
    double norm = 0;
    for (int i = 0; i < n; i++) {
        norm = hypot(norm, (double)x[cudasim_at(i, n, incx)]);
    }
    *result = (Type)norm;
}
template <class Type> void cudasim_asum(Type *result, int n, const Type *x, int incx) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += fabs((double)x[cudasim_at(i, n, incx)]);
    }
    *result = (Type)sum;
}
/* The first number that is largest, or smallest, counted from 1. */
template <class Type>
void cudasim_extreme(int *result, int n, const Type *x, int incx, bool largest) {
    int best = 0;
    for (int i = 1; i < n; i++) {
        double a = fabs((double)x[cudasim_at(i, n, incx)]),
               b = fabs((double)x[cudasim_at(best, n, incx)]);
        best = (largest ? a > b : a < b) ? i : best;
    }
    *result = n > 0 ? best + 1 : 0;
}

/* ---- matrices, stored by columns ------------------------------------------------------------- */

/* One row of y = alpha op(A) x + beta y. Where beta is 0, y is not read. */
template <class Type>
void cudasim_gemv(cublasOperation_t operation, int rows, int columns,
                  cudasim_blas_scalar<Type> alpha, const Type *matrixA, int lda, const Type *x,
                  int incx, cudasim_blas_scalar<Type> beta, Type *y, int incy) {
    int row = (int)blockIdx.x;
    double sum = 0;
    for (int column = 0; column < columns; column++) {
        sum += (double)matrixA[cudasim_in(operation, row, column, lda)] *
               (double)x[cudasim_at(column, columns, incx)];
    }
    Type *to = &y[cudasim_at(row, rows, incy)];
    Type before = beta.get() != 0 ? beta.get() * *to : Type(0);
    *to = (Type)((double)alpha.get() * sum) + before;
}
/* One column of A += alpha x y^T. */
template <class Type>
void cudasim_ger(int m, int n, cudasim_blas_scalar<Type> alpha, const Type *x, int incx,
                 const Type *y, int incy, Type *matrixA, int lda) {
    int column = (int)blockIdx.x;
    for (int row = 0; row < m; row++) {
        matrixA[row + (size_t)column * lda] +=
            alpha.get() * x[cudasim_at(row, m, incx)] * y[cudasim_at(column, n, incy)];
    }
}
/* One column of C = alpha op(A) + beta op(B). A matrix whose factor is 0 is not read. */
template <class Type>
void cudasim_geam(cublasOperation_t opA, cublasOperation_t opB, int m,
                  cudasim_blas_scalar<Type> alpha, const Type *matrixA, int lda,
                  cudasim_blas_scalar<Type> beta, const Type *matrixB, int ldb, Type *matrixC,
                  int ldc) {
    int column = (int)blockIdx.x;
    for (int row = 0; row < m; row++) {
        Type a =
            alpha.get() != 0 ? alpha.get() * matrixA[cudasim_in(opA, row, column, lda)] : Type(0);
        Type b =
            beta.get() != 0 ? beta.get() * matrixB[cudasim_in(opB, row, column, ldb)] : Type(0);
        matrixC[row + (size_t)column * ldc] = a + b;
    }
}
/* One column of C = alpha op(A) op(B) + beta C. */
template <class Type>
inline void cudasim_multiply_column(cublasOperation_t opA, cublasOperation_t opB, int m, int column,
                                    int k, Type alpha, const Type *matrixA, int lda,
                                    const Type *matrixB, int ldb, Type beta, Type *matrixC,
                                    int ldc) {
    for (int row = 0; row < m; row++) {
        double sum = 0;
        for (int i = 0; i < k && alpha != 0; i++) {
            sum += (double)matrixA[cudasim_in(opA, row, i, lda)] *
                   (double)matrixB[cudasim_in(opB, i, column, ldb)];
        }
        Type *to = &matrixC[row + (size_t)column * ldc];
        Type before = beta != 0 ? beta * *to : Type(0);
        *to = (Type)((double)alpha * sum) + before;
    }
}
/* Block after block the columns of all matrices of a batch. */
template <class Type>
void cudasim_gemm(cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,
                  cudasim_blas_scalar<Type> alpha, const Type *matrixA, int lda, long long strideA,
                  const Type *matrixB, int ldb, long long strideB, cudasim_blas_scalar<Type> beta,
                  Type *matrixC, int ldc, long long strideC) {
    int z = (int)blockIdx.x / n, column = (int)blockIdx.x % n;
    cudasim_multiply_column(opA, opB, m, column, k, alpha.get(), matrixA + z * strideA, lda,
                            matrixB + z * strideB, ldb, beta.get(), matrixC + z * strideC, ldc);
}
template <class Type>
void cudasim_gemm_pointers(cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,
                           cudasim_blas_scalar<Type> alpha, const Type *const *matrixA, int lda,
                           const Type *const *matrixB, int ldb, cudasim_blas_scalar<Type> beta,
                           Type *const *matrixC, int ldc) {
    int z = (int)blockIdx.x / n, column = (int)blockIdx.x % n;
    cudasim_multiply_column(opA, opB, m, column, k, alpha.get(), matrixA[z], lda, matrixB[z], ldb,
                            beta.get(), matrixC[z], ldc);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A name, the type of its numbers, its parameters after the handle, and what is launched. */
#define CUDASIM_BLAS(letter, Type, name, parameters, work)                                         \
    inline cublasStatus_t cudasim_##letter##name(                                                  \
        const char *file, int line, cublasHandle_t handle, CUDASIM_UNPACK parameters) {            \
        cudasim_blas_call call(file, line, #letter #name, handle);                                 \
        return call.work;                                                                          \
    }
#define CUDASIM_UNPACK(...) __VA_ARGS__
#define CUDASIM_SCALAR(Type, x) cudasim_blas_scalar<Type>(call, #x, x)
#define CUDASIM_BLAS_OF(Letter, Type)                                                              \
    CUDASIM_BLAS(Letter, Type, axpy,                                                               \
                 (int n, const Type *alpha, const Type *x, int incx, Type *y, int incy),           \
                 launch(1, cudasim_axpy<Type>, n, CUDASIM_SCALAR(Type, alpha), x, incx, y, incy))  \
    CUDASIM_BLAS(Letter, Type, scal, (int n, const Type *alpha, Type *x, int incx),                \
                 launch(1, cudasim_scal<Type>, n, CUDASIM_SCALAR(Type, alpha), x, incx))           \
    CUDASIM_BLAS(Letter, Type, copy, (int n, const Type *x, int incx, Type *y, int incy),          \
                 launch(1, cudasim_vector_copy<Type>, n, x, incx, y, incy))                        \
    CUDASIM_BLAS(Letter, Type, swap, (int n, Type *x, int incx, Type *y, int incy),                \
                 launch(1, cudasim_swap<Type>, n, x, incx, y, incy))                               \
    CUDASIM_BLAS(Letter, Type, dot,                                                                \
                 (int n, const Type *x, int incx, const Type *y, int incy, Type *result),          \
                 reduce(result, cudasim_dot<Type>, n, x, incx, y, incy))                           \
    CUDASIM_BLAS(Letter, Type, nrm2, (int n, const Type *x, int incx, Type *result),               \
                 reduce(result, cudasim_nrm2<Type>, n, x, incx))                                   \
    CUDASIM_BLAS(Letter, Type, asum, (int n, const Type *x, int incx, Type *result),               \
                 reduce(result, cudasim_asum<Type>, n, x, incx))                                   \
    CUDASIM_BLAS(Letter, Type, gemv,                                                               \
                 (cublasOperation_t op, int m, int n, const Type *alpha, const Type *matrixA,      \
                  int lda, const Type *x, int incx, const Type *beta, Type *y, int incy),          \
                 launch(op == CUBLAS_OP_N ? m : n, cudasim_gemv<Type>, op,                         \
                        op == CUBLAS_OP_N ? m : n, op == CUBLAS_OP_N ? n : m,                      \
                        CUDASIM_SCALAR(Type, alpha), matrixA, lda, x, incx,                        \
                        CUDASIM_SCALAR(Type, beta), y, incy))                                      \
    CUDASIM_BLAS(Letter, Type, ger,                                                                \
                 (int m, int n, const Type *alpha, const Type *x, int incx, const Type *y,         \
                  int incy, Type *matrixA, int lda),                                               \
                 launch(n, cudasim_ger<Type>, m, n, CUDASIM_SCALAR(Type, alpha), x, incx, y, incy, \
                        matrixA, lda))                                                             \
    CUDASIM_BLAS(Letter, Type, geam,                                                               \
                 (cublasOperation_t opA, cublasOperation_t opB, int m, int n, const Type *alpha,   \
                  const Type *matrixA, int lda, const Type *beta, const Type *matrixB, int ldb,    \
                  Type *matrixC, int ldc),                                                         \
                 launch(n, cudasim_geam<Type>, opA, opB, m, CUDASIM_SCALAR(Type, alpha), matrixA,  \
                        lda, CUDASIM_SCALAR(Type, beta), matrixB, ldb, matrixC, ldc))              \
    CUDASIM_BLAS(Letter, Type, gemmBatched,                                                        \
                 (cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,               \
                  const Type *alpha, const Type *const matrixA[], int lda,                         \
                  const Type *const matrixB[], int ldb, const Type *beta, Type *const matrixC[],   \
                  int ldc, int batch),                                                             \
                 launch(n *batch, cudasim_gemm_pointers<Type>, opA, opB, m, n, k,                  \
                        CUDASIM_SCALAR(Type, alpha), matrixA, lda, matrixB, ldb,                   \
                        CUDASIM_SCALAR(Type, beta), matrixC, ldc))
CUDASIM_BLAS_OF(cublasS, float)
CUDASIM_BLAS_OF(cublasD, double)
#define CUDASIM_EXTREME(letter, Type, name, largest)                                               \
    CUDASIM_BLAS(letter, Type, name, (int n, const Type *x, int incx, int *result),                \
                 reduce(result, cudasim_extreme<Type>, n, x, incx, largest))
CUDASIM_EXTREME(Is, float, amax, true)
CUDASIM_EXTREME(Is, float, amin, false)
CUDASIM_EXTREME(Id, double, amax, true)
CUDASIM_EXTREME(Id, double, amin, false)
CUDASIM_BLAS(cublasD, double, gemmStridedBatched,
             (cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,
              const double *alpha, const double *matrixA, int lda, long long strideA,
              const double *matrixB, int ldb, long long strideB, const double *beta,
              double *matrixC, int ldc, long long strideC, int batch),
             launch(n *batch, cudasim_gemm<double>, opA, opB, m, n, k,
                    CUDASIM_SCALAR(double, alpha), matrixA, lda, strideA, matrixB, ldb, strideB,
                    CUDASIM_SCALAR(double, beta), matrixC, ldc, strideC))
CUDASIM_BLAS(cublasD, double, gemm,
             (cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,
              const double *alpha, const double *matrixA, int lda, const double *matrixB, int ldb,
              const double *beta, double *matrixC, int ldc),
             launch(n, cudasim_gemm<double>, opA, opB, m, n, k, CUDASIM_SCALAR(double, alpha),
                    matrixA, lda, 0ll, matrixB, ldb, 0ll, CUDASIM_SCALAR(double, beta), matrixC,
                    ldc, 0ll))

#define cublasSaxpy(...) cudasim_cublasSaxpy(CUDASIM_HERE, __VA_ARGS__)
#define cublasDaxpy(...) cudasim_cublasDaxpy(CUDASIM_HERE, __VA_ARGS__)
#define cublasSscal(...) cudasim_cublasSscal(CUDASIM_HERE, __VA_ARGS__)
#define cublasDscal(...) cudasim_cublasDscal(CUDASIM_HERE, __VA_ARGS__)
#define cublasScopy(...) cudasim_cublasScopy(CUDASIM_HERE, __VA_ARGS__)
#define cublasDcopy(...) cudasim_cublasDcopy(CUDASIM_HERE, __VA_ARGS__)
#define cublasSswap(...) cudasim_cublasSswap(CUDASIM_HERE, __VA_ARGS__)
#define cublasDswap(...) cudasim_cublasDswap(CUDASIM_HERE, __VA_ARGS__)
#define cublasSdot(...) cudasim_cublasSdot(CUDASIM_HERE, __VA_ARGS__)
#define cublasDdot(...) cudasim_cublasDdot(CUDASIM_HERE, __VA_ARGS__)
#define cublasSnrm2(...) cudasim_cublasSnrm2(CUDASIM_HERE, __VA_ARGS__)
#define cublasDnrm2(...) cudasim_cublasDnrm2(CUDASIM_HERE, __VA_ARGS__)
#define cublasSasum(...) cudasim_cublasSasum(CUDASIM_HERE, __VA_ARGS__)
#define cublasDasum(...) cudasim_cublasDasum(CUDASIM_HERE, __VA_ARGS__)
#define cublasIsamax(...) cudasim_Isamax(CUDASIM_HERE, __VA_ARGS__)
#define cublasIdamax(...) cudasim_Idamax(CUDASIM_HERE, __VA_ARGS__)
#define cublasIsamin(...) cudasim_Isamin(CUDASIM_HERE, __VA_ARGS__)
#define cublasIdamin(...) cudasim_Idamin(CUDASIM_HERE, __VA_ARGS__)
#define cublasSgemv(...) cudasim_cublasSgemv(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgemv(...) cudasim_cublasDgemv(CUDASIM_HERE, __VA_ARGS__)
#define cublasSger(...) cudasim_cublasSger(CUDASIM_HERE, __VA_ARGS__)
#define cublasDger(...) cudasim_cublasDger(CUDASIM_HERE, __VA_ARGS__)
#define cublasSgeam(...) cudasim_cublasSgeam(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgeam(...) cudasim_cublasDgeam(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgemm(...) cudasim_cublasDgemm(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgemmStridedBatched(...) cudasim_cublasDgemmStridedBatched(CUDASIM_HERE, __VA_ARGS__)
#define cublasSgemmBatched(...) cudasim_cublasSgemmBatched(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgemmBatched(...) cudasim_cublasDgemmBatched(CUDASIM_HERE, __VA_ARGS__)

/* Products of fp16 whose sums are fp16. */
inline cublasStatus_t cudasim_hgemm_strided_batched(
    const char *file, int line, const char *function, cublasHandle_t handle, cublasOperation_t opA,
    cublasOperation_t opB, int m, int n, int k, const __half *alpha, const __half *matrixA, int lda,
    long long strideA, const __half *matrixB, int ldb, long long strideB, const __half *beta,
    __half *matrixC, int ldc, long long strideC, int batch) {
    return cudasim_blas_gemm_strided_batched_ex(
        file, line, function, handle, opA, opB, m, n, k, alpha, matrixA, CUDA_R_16F, lda, strideA,
        matrixB, CUDA_R_16F, ldb, strideB, beta, matrixC, CUDA_R_16F, ldc, strideC, batch,
        CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cudasim_hgemm(const char *file, int line, const char *function,
                                    cublasHandle_t handle, cublasOperation_t opA,
                                    cublasOperation_t opB, int m, int n, int k, const __half *alpha,
                                    const __half *matrixA, int lda, const __half *matrixB, int ldb,
                                    const __half *beta, __half *matrixC, int ldc) {
    return cudasim_hgemm_strided_batched(file, line, function, handle, opA, opB, m, n, k, alpha,
                                         matrixA, lda, 0, matrixB, ldb, 0, beta, matrixC, ldc, 0,
                                         1);
}
inline cublasStatus_t cudasim_hgemm_batched(const char *file, int line, const char *function,
                                            cublasHandle_t handle, cublasOperation_t opA,
                                            cublasOperation_t opB, int m, int n, int k,
                                            const __half *alpha, const __half *const matrixA[],
                                            int lda, const __half *const matrixB[], int ldb,
                                            const __half *beta, __half *const matrixC[], int ldc,
                                            int batch) {
    return cudasim_blas_gemm_batched_ex(
        file, line, function, handle, opA, opB, m, n, k, alpha, (const void *const *)matrixA,
        CUDA_R_16F, lda, (const void *const *)matrixB, CUDA_R_16F, ldb, beta,
        (void *const *)matrixC, CUDA_R_16F, ldc, batch, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
#define cublasHgemm(...) cudasim_hgemm(CUDASIM_HERE, "cublasHgemm", __VA_ARGS__)
#define cublasHgemmStridedBatched(...)                                                             \
    cudasim_hgemm_strided_batched(CUDASIM_HERE, "cublasHgemmStridedBatched", __VA_ARGS__)
#define cublasHgemmBatched(...)                                                                    \
    cudasim_hgemm_batched(CUDASIM_HERE, "cublasHgemmBatched", __VA_ARGS__)

/* The older form of cublasGemmEx(): its sums are given as a type of numbers. */
inline cublasStatus_t cudasim_blas_gemm_ex(const char *file, int line, const char *function,
                                           cublasHandle_t handle, cublasOperation_t opA,
                                           cublasOperation_t opB, int m, int n, int k,
                                           const void *alpha, const void *matrixA,
                                           cudaDataType_t typeA, int lda, const void *matrixB,
                                           cudaDataType_t typeB, int ldb, const void *beta,
                                           void *matrixC, cudaDataType_t typeC, int ldc,
                                           cudaDataType_t sums, cublasGemmAlgo_t algo) {
    cublasComputeType_t compute = sums == CUDA_R_32F   ? CUBLAS_COMPUTE_32F
                                  : sums == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                                       : CUBLAS_COMPUTE_64F;
    return cudasim_blas_gemm_ex(file, line, function, handle, opA, opB, m, n, k, alpha, matrixA,
                                typeA, lda, matrixB, typeB, ldb, beta, matrixC, typeC, ldc, compute,
                                algo);
}

/* ---- between host and device ----------------------------------------------------------------- */

inline cublasStatus_t cudasim_blas_copied(cudaError_t error) {
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
/* A vector is a matrix of one row. */
#define CUDASIM_BLAS_MATRIX(rows, columns, size, from, ld_from, to, ld_to, direction)              \
    cudasim_blas_copied(cudasim_memcpy_2d(CUDASIM_HERE, (to), (size_t)(ld_to) * (size_t)(size),    \
                                          (from), (size_t)(ld_from) * (size_t)(size),              \
                                          (size_t)(rows) * (size_t)(size), (size_t)(columns),      \
                                          direction))
#define CUDASIM_BLAS_MATRIX_ASYNC(rows, columns, size, from, ld_from, to, ld_to, direction,        \
                                  stream)                                                          \
    cudasim_blas_copied(cudasim_memcpy_2d_async(                                                   \
        CUDASIM_HERE, (to), (size_t)(ld_to) * (size_t)(size), (from),                              \
        (size_t)(ld_from) * (size_t)(size), (size_t)(rows) * (size_t)(size), (size_t)(columns),    \
        direction, (stream)))
#define cublasSetMatrixAsync(rows, columns, size, from, ld_from, to, ld_to, stream)                \
    CUDASIM_BLAS_MATRIX_ASYNC(rows, columns, size, from, ld_from, to, ld_to,                       \
                              cudaMemcpyHostToDevice, stream)
#define cublasGetMatrixAsync(rows, columns, size, from, ld_from, to, ld_to, stream)                \
    CUDASIM_BLAS_MATRIX_ASYNC(rows, columns, size, from, ld_from, to, ld_to,                       \
                              cudaMemcpyDeviceToHost, stream)
#define cublasSetVectorAsync(n, size, from, step_from, to, step_to, stream)                        \
    CUDASIM_BLAS_MATRIX_ASYNC(1, n, size, from, step_from, to, step_to, cudaMemcpyHostToDevice,    \
                              stream)
#define cublasGetVectorAsync(n, size, from, step_from, to, step_to, stream)                        \
    CUDASIM_BLAS_MATRIX_ASYNC(1, n, size, from, step_from, to, step_to, cudaMemcpyDeviceToHost,    \
                              stream)
#define cublasSetMatrix(rows, columns, size, from, ld_from, to, ld_to)                             \
    CUDASIM_BLAS_MATRIX(rows, columns, size, from, ld_from, to, ld_to, cudaMemcpyHostToDevice)
#define cublasGetMatrix(rows, columns, size, from, ld_from, to, ld_to)                             \
    CUDASIM_BLAS_MATRIX(rows, columns, size, from, ld_from, to, ld_to, cudaMemcpyDeviceToHost)
#define cublasSetVector(n, size, from, step_from, to, step_to)                                     \
    CUDASIM_BLAS_MATRIX(1, n, size, from, step_from, to, step_to, cudaMemcpyHostToDevice)
#define cublasGetVector(n, size, from, step_from, to, step_to)                                     \
    CUDASIM_BLAS_MATRIX(1, n, size, from, step_from, to, step_to, cudaMemcpyDeviceToHost)
/** @endcond */

#endif
