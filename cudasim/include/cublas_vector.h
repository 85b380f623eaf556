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
    bool on_device;
    cublasStatus_t status;

    cudasim_blas_call(const char *file_, int line_, const char *name_, cublasHandle_t handle_)
        : file(file_), line(line_), name(name_), handle(handle_), stream(0), on_device(false) {
        cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
        status = cudasim_blas_get_pointer_mode(file, line, handle, &mode);
        if (status == CUBLAS_STATUS_SUCCESS) {
            status = cudasim_blas_get_stream(file, line, handle, &stream);
        }
        on_device = mode == CUBLAS_POINTER_MODE_DEVICE;
    }
    /* Blocks of one thread. */
    template <class... P, class... A>
    cublasStatus_t launch(int blocks, void (*kernel)(P...), A... values) const {
        if (status != CUBLAS_STATUS_SUCCESS || blocks <= 0) {
            return status;
        }
        cudasim_launch(file, line, name, kernel, dim3((unsigned)blocks), dim3(1), 0,
                       stream)(values...);
        return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                    : CUBLAS_STATUS_EXECUTION_FAILED;
    }
    /* A kernel that gives one number: to the device, or to the host, which waits for it. */
    template <class R, class... P, class... A>
    cublasStatus_t reduce(R *result, void (*kernel)(R *, P...), A... values) const {
        if (status != CUBLAS_STATUS_SUCCESS || on_device) {
            return launch(1, kernel, result, values...);
        }
        R *memory = NULL;
        if (cudasim_malloc(file, line, (void **)&memory, sizeof(R)) != cudaSuccess) {
            return CUBLAS_STATUS_ALLOC_FAILED;
        }
        cublasStatus_t launched = launch(1, kernel, memory, values...);
        cudasim_memcpy_async(file, line, result, memory, sizeof(R), cudaMemcpyDeviceToHost, stream);
        cudasim_stream_synchronize(file, line, stream);
        cudasim_free(file, line, memory);
        return launched;
    }
};

/* A number that the host has given, or that the kernel reads. */
template <class T> struct cudasim_blas_scalar {
    T value;
    const T *at;
    cudasim_blas_scalar(const cudasim_blas_call &call, const T *given)
        : value(call.on_device ? T(0) : *given), at(call.on_device ? given : NULL) {
    }
    T get() const {
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

template <class T>
void cudasim_axpy(int n, cudasim_blas_scalar<T> alpha, const T *x, int incx, T *y, int incy) {
    for (int i = 0; i < n; i++) {
        y[cudasim_at(i, n, incy)] += alpha.get() * x[cudasim_at(i, n, incx)];
    }
}
template <class T> void cudasim_scal(int n, cudasim_blas_scalar<T> alpha, T *x, int incx) {
    for (int i = 0; i < n; i++) {
        x[cudasim_at(i, n, incx)] *= alpha.get();
    }
}
template <class T> void cudasim_vector_copy(int n, const T *x, int incx, T *y, int incy) {
    for (int i = 0; i < n; i++) {
        y[cudasim_at(i, n, incy)] = x[cudasim_at(i, n, incx)];
    }
}
template <class T> void cudasim_swap(int n, T *x, int incx, T *y, int incy) {
    for (int i = 0; i < n; i++) {
        T kept = x[cudasim_at(i, n, incx)];
        x[cudasim_at(i, n, incx)] = y[cudasim_at(i, n, incy)];
        y[cudasim_at(i, n, incy)] = kept;
    }
}
template <class T> void cudasim_dot(T *result, int n, const T *x, int incx, const T *y, int incy) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += (double)x[cudasim_at(i, n, incx)] * (double)y[cudasim_at(i, n, incy)];
    }
    *result = (T)sum;
}
template <class T> void cudasim_nrm2(T *result, int n, const T *x, int incx) {
    double norm = 0;
    for (int i = 0; i < n; i++) {
        norm = hypot(norm, (double)x[cudasim_at(i, n, incx)]);
    }
    *result = (T)norm;
}
template <class T> void cudasim_asum(T *result, int n, const T *x, int incx) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += fabs((double)x[cudasim_at(i, n, incx)]);
    }
    *result = (T)sum;
}
/* The first number that is largest, or smallest, counted from 1. */
template <class T> void cudasim_extreme(int *result, int n, const T *x, int incx, bool largest) {
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
template <class T>
void cudasim_gemv(cublasOperation_t operation, int rows, int columns, cudasim_blas_scalar<T> alpha,
                  const T *A, int lda, const T *x, int incx, cudasim_blas_scalar<T> beta, T *y,
                  int incy) {
    int row = (int)blockIdx.x;
    double sum = 0;
    for (int column = 0; column < columns; column++) {
        sum += (double)A[cudasim_in(operation, row, column, lda)] *
               (double)x[cudasim_at(column, columns, incx)];
    }
    T *to = &y[cudasim_at(row, rows, incy)];
    T before = beta.get() != 0 ? beta.get() * *to : T(0);
    *to = (T)((double)alpha.get() * sum) + before;
}
/* One column of A += alpha x y^T. */
template <class T>
void cudasim_ger(int m, int n, cudasim_blas_scalar<T> alpha, const T *x, int incx, const T *y,
                 int incy, T *A, int lda) {
    int column = (int)blockIdx.x;
    for (int row = 0; row < m; row++) {
        A[row + (size_t)column * lda] +=
            alpha.get() * x[cudasim_at(row, m, incx)] * y[cudasim_at(column, n, incy)];
    }
}
/* One column of C = alpha op(A) + beta op(B). A matrix whose factor is 0 is not read. */
template <class T>
void cudasim_geam(cublasOperation_t opA, cublasOperation_t opB, int m, cudasim_blas_scalar<T> alpha,
                  const T *A, int lda, cudasim_blas_scalar<T> beta, const T *B, int ldb, T *C,
                  int ldc) {
    int column = (int)blockIdx.x;
    for (int row = 0; row < m; row++) {
        T a = alpha.get() != 0 ? alpha.get() * A[cudasim_in(opA, row, column, lda)] : T(0);
        T b = beta.get() != 0 ? beta.get() * B[cudasim_in(opB, row, column, ldb)] : T(0);
        C[row + (size_t)column * ldc] = a + b;
    }
}
/* One column of C = alpha op(A) op(B) + beta C. */
template <class T>
inline void cudasim_multiply_column(cublasOperation_t opA, cublasOperation_t opB, int m, int column,
                                    int k, T alpha, const T *A, int lda, const T *B, int ldb,
                                    T beta, T *C, int ldc) {
    for (int row = 0; row < m; row++) {
        double sum = 0;
        for (int i = 0; i < k && alpha != 0; i++) {
            sum += (double)A[cudasim_in(opA, row, i, lda)] *
                   (double)B[cudasim_in(opB, i, column, ldb)];
        }
        T *to = &C[row + (size_t)column * ldc];
        T before = beta != 0 ? beta * *to : T(0);
        *to = (T)((double)alpha * sum) + before;
    }
}
/* Block after block the columns of all matrices of a batch. */
template <class T>
void cudasim_gemm(cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,
                  cudasim_blas_scalar<T> alpha, const T *A, int lda, long long strideA, const T *B,
                  int ldb, long long strideB, cudasim_blas_scalar<T> beta, T *C, int ldc,
                  long long strideC) {
    int z = (int)blockIdx.x / n, column = (int)blockIdx.x % n;
    cudasim_multiply_column(opA, opB, m, column, k, alpha.get(), A + z * strideA, lda,
                            B + z * strideB, ldb, beta.get(), C + z * strideC, ldc);
}
template <class T>
void cudasim_gemm_pointers(cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,
                           cudasim_blas_scalar<T> alpha, const T *const *A, int lda,
                           const T *const *B, int ldb, cudasim_blas_scalar<T> beta, T *const *C,
                           int ldc) {
    int z = (int)blockIdx.x / n, column = (int)blockIdx.x % n;
    cudasim_multiply_column(opA, opB, m, column, k, alpha.get(), A[z], lda, B[z], ldb, beta.get(),
                            C[z], ldc);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A name, the type of its numbers, its parameters after the handle, and what is launched. */
#define CUDASIM_BLAS(letter, T, name, parameters, work)                                            \
    inline cublasStatus_t cudasim_##letter##name(                                                  \
        const char *file, int line, cublasHandle_t handle, CUDASIM_UNPACK parameters) {            \
        cudasim_blas_call call(file, line, "cublas" #letter #name, handle);                        \
        return call.work;                                                                          \
    }
#define CUDASIM_UNPACK(...) __VA_ARGS__
#define CUDASIM_SCALAR(T, x) cudasim_blas_scalar<T>(call, x)
#define CUDASIM_BLAS_OF(L, T)                                                                      \
    CUDASIM_BLAS(L, T, axpy, (int n, const T *alpha, const T *x, int incx, T *y, int incy),        \
                 launch(1, cudasim_axpy<T>, n, CUDASIM_SCALAR(T, alpha), x, incx, y, incy))        \
    CUDASIM_BLAS(L, T, scal, (int n, const T *alpha, T *x, int incx),                              \
                 launch(1, cudasim_scal<T>, n, CUDASIM_SCALAR(T, alpha), x, incx))                 \
    CUDASIM_BLAS(L, T, copy, (int n, const T *x, int incx, T *y, int incy),                        \
                 launch(1, cudasim_vector_copy<T>, n, x, incx, y, incy))                           \
    CUDASIM_BLAS(L, T, swap, (int n, T *x, int incx, T *y, int incy),                              \
                 launch(1, cudasim_swap<T>, n, x, incx, y, incy))                                  \
    CUDASIM_BLAS(L, T, dot, (int n, const T *x, int incx, const T *y, int incy, T *result),        \
                 reduce(result, cudasim_dot<T>, n, x, incx, y, incy))                              \
    CUDASIM_BLAS(L, T, nrm2, (int n, const T *x, int incx, T *result),                             \
                 reduce(result, cudasim_nrm2<T>, n, x, incx))                                      \
    CUDASIM_BLAS(L, T, asum, (int n, const T *x, int incx, T *result),                             \
                 reduce(result, cudasim_asum<T>, n, x, incx))                                      \
    CUDASIM_BLAS(L, T, gemv,                                                                       \
                 (cublasOperation_t op, int m, int n, const T *alpha, const T *A, int lda,         \
                  const T *x, int incx, const T *beta, T *y, int incy),                            \
                 launch(op == CUBLAS_OP_N ? m : n, cudasim_gemv<T>, op, op == CUBLAS_OP_N ? m : n, \
                        op == CUBLAS_OP_N ? n : m, CUDASIM_SCALAR(T, alpha), A, lda, x, incx,      \
                        CUDASIM_SCALAR(T, beta), y, incy))                                         \
    CUDASIM_BLAS(                                                                                  \
        L, T, ger,                                                                                 \
        (int m, int n, const T *alpha, const T *x, int incx, const T *y, int incy, T *A, int lda), \
        launch(n, cudasim_ger<T>, m, n, CUDASIM_SCALAR(T, alpha), x, incx, y, incy, A, lda))       \
    CUDASIM_BLAS(L, T, geam,                                                                       \
                 (cublasOperation_t opA, cublasOperation_t opB, int m, int n, const T *alpha,      \
                  const T *A, int lda, const T *beta, const T *B, int ldb, T *C, int ldc),         \
                 launch(n, cudasim_geam<T>, opA, opB, m, CUDASIM_SCALAR(T, alpha), A, lda,         \
                        CUDASIM_SCALAR(T, beta), B, ldb, C, ldc))                                  \
    CUDASIM_BLAS(L, T, gemmBatched,                                                                \
                 (cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,               \
                  const T *alpha, const T *const A[], int lda, const T *const B[], int ldb,        \
                  const T *beta, T *const C[], int ldc, int batch),                                \
                 launch(n *batch, cudasim_gemm_pointers<T>, opA, opB, m, n, k,                     \
                        CUDASIM_SCALAR(T, alpha), A, lda, B, ldb, CUDASIM_SCALAR(T, beta), C,      \
                        ldc))
CUDASIM_BLAS_OF(S, float)
CUDASIM_BLAS_OF(D, double)
#define CUDASIM_EXTREME(letter, T, name, largest)                                                  \
    CUDASIM_BLAS(letter, T, name, (int n, const T *x, int incx, int *result),                      \
                 reduce(result, cudasim_extreme<T>, n, x, incx, largest))
CUDASIM_EXTREME(Is, float, amax, true)
CUDASIM_EXTREME(Is, float, amin, false)
CUDASIM_EXTREME(Id, double, amax, true)
CUDASIM_EXTREME(Id, double, amin, false)
CUDASIM_BLAS(D, double, gemmStridedBatched,
             (cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,
              const double *alpha, const double *A, int lda, long long strideA, const double *B,
              int ldb, long long strideB, const double *beta, double *C, int ldc, long long strideC,
              int batch),
             launch(n *batch, cudasim_gemm<double>, opA, opB, m, n, k,
                    CUDASIM_SCALAR(double, alpha), A, lda, strideA, B, ldb, strideB,
                    CUDASIM_SCALAR(double, beta), C, ldc, strideC))
CUDASIM_BLAS(D, double, gemm,
             (cublasOperation_t opA, cublasOperation_t opB, int m, int n, int k,
              const double *alpha, const double *A, int lda, const double *B, int ldb,
              const double *beta, double *C, int ldc),
             launch(n, cudasim_gemm<double>, opA, opB, m, n, k, CUDASIM_SCALAR(double, alpha), A,
                    lda, 0ll, B, ldb, 0ll, CUDASIM_SCALAR(double, beta), C, ldc, 0ll))

#define cublasSaxpy(...) cudasim_Saxpy(CUDASIM_HERE, __VA_ARGS__)
#define cublasDaxpy(...) cudasim_Daxpy(CUDASIM_HERE, __VA_ARGS__)
#define cublasSscal(...) cudasim_Sscal(CUDASIM_HERE, __VA_ARGS__)
#define cublasDscal(...) cudasim_Dscal(CUDASIM_HERE, __VA_ARGS__)
#define cublasScopy(...) cudasim_Scopy(CUDASIM_HERE, __VA_ARGS__)
#define cublasDcopy(...) cudasim_Dcopy(CUDASIM_HERE, __VA_ARGS__)
#define cublasSswap(...) cudasim_Sswap(CUDASIM_HERE, __VA_ARGS__)
#define cublasDswap(...) cudasim_Dswap(CUDASIM_HERE, __VA_ARGS__)
#define cublasSdot(...) cudasim_Sdot(CUDASIM_HERE, __VA_ARGS__)
#define cublasDdot(...) cudasim_Ddot(CUDASIM_HERE, __VA_ARGS__)
#define cublasSnrm2(...) cudasim_Snrm2(CUDASIM_HERE, __VA_ARGS__)
#define cublasDnrm2(...) cudasim_Dnrm2(CUDASIM_HERE, __VA_ARGS__)
#define cublasSasum(...) cudasim_Sasum(CUDASIM_HERE, __VA_ARGS__)
#define cublasDasum(...) cudasim_Dasum(CUDASIM_HERE, __VA_ARGS__)
#define cublasIsamax(...) cudasim_Isamax(CUDASIM_HERE, __VA_ARGS__)
#define cublasIdamax(...) cudasim_Idamax(CUDASIM_HERE, __VA_ARGS__)
#define cublasIsamin(...) cudasim_Isamin(CUDASIM_HERE, __VA_ARGS__)
#define cublasIdamin(...) cudasim_Idamin(CUDASIM_HERE, __VA_ARGS__)
#define cublasSgemv(...) cudasim_Sgemv(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgemv(...) cudasim_Dgemv(CUDASIM_HERE, __VA_ARGS__)
#define cublasSger(...) cudasim_Sger(CUDASIM_HERE, __VA_ARGS__)
#define cublasDger(...) cudasim_Dger(CUDASIM_HERE, __VA_ARGS__)
#define cublasSgeam(...) cudasim_Sgeam(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgeam(...) cudasim_Dgeam(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgemm(...) cudasim_Dgemm(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgemmStridedBatched(...) cudasim_DgemmStridedBatched(CUDASIM_HERE, __VA_ARGS__)
#define cublasSgemmBatched(...) cudasim_SgemmBatched(CUDASIM_HERE, __VA_ARGS__)
#define cublasDgemmBatched(...) cudasim_DgemmBatched(CUDASIM_HERE, __VA_ARGS__)

/* The older form of cublasGemmEx(): its sums are given as a type of numbers. */
inline cublasStatus_t cudasim_blas_gemm_ex(const char *file, int line, cublasHandle_t handle,
                                           cublasOperation_t opA, cublasOperation_t opB, int m,
                                           int n, int k, const void *alpha, const void *A,
                                           cudaDataType_t typeA, int lda, const void *B,
                                           cudaDataType_t typeB, int ldb, const void *beta, void *C,
                                           cudaDataType_t typeC, int ldc, cudaDataType_t sums,
                                           cublasGemmAlgo_t algo) {
    cublasComputeType_t compute = sums == CUDA_R_32F   ? CUBLAS_COMPUTE_32F
                                  : sums == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                                       : CUBLAS_COMPUTE_64F;
    return cudasim_blas_gemm_ex(file, line, handle, opA, opB, m, n, k, alpha, A, typeA, lda, B,
                                typeB, ldb, beta, C, typeC, ldc, compute, algo);
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
