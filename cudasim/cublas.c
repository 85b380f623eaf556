#include <stddef.h>

#include "cublas_v2.h"

#include "cublas_product.h"
#include "device.h"
#include "kernels/blas.h"
#include "queue.h"

struct cublasContext {
    int device; /* that was current when it was made */
    Place made;
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasMath_t math;
    struct cublasContext *next;
};

/* A handle of cuBLAS is one of cuBLASLt, which looks for the device alone: see cublaslt.c. */
_Static_assert(offsetof(struct cublasContext, device) == 0, "begins as cublasLtContext");

static struct cublasContext *handles;

/* ---- statuses -------------------------------------------------------------------------------- */

const char *cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
        return "CUBLAS_STATUS_UNKNOWN";
    }
}

const char *cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "an invalid value was used as an argument";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "the function failed to launch on the GPU";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "the functionality is not supported";
    default:
        return "unknown status";
    }
}

/* ---- handles --------------------------------------------------------------------------------- */

/* Where the list has a handle; NULL: it does not exist. */
static struct cublasContext **link_of(cublasHandle_t handle) {
    struct cublasContext **link = &handles;
    while (*link != NULL && *link != handle) {
        link = &(*link)->next;
    }
    return *link != NULL ? link : NULL;
}

/* Whether a call may go on with this handle. */
static cublasStatus_t known(const char *function, Place place, cublasHandle_t handle) {
    if (handle == NULL || link_of(handle) == NULL) {
        sim_report("cuBLAS argument", "%s at %s:%d: this handle does not exist", function,
                   sim_file(place), place.line);
        sim_detail("cublasCreate(&handle) makes one, cublasDestroy(handle) ends it");
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    return sim_device_error() == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                             : CUBLAS_STATUS_EXECUTION_FAILED;
}

static bool is_of_device(const char *function, Place place, cublasHandle_t handle, int device,
                         const char *who) {
    if (device == handle->device) {
        return true;
    }
    sim_report("cuBLAS argument", "%s at %s:%d: the handle is of device %d, and %s %d", function,
               sim_file(place), place.line, handle->device, who, device);
    sim_detail("the handle was created at %s:%d: each device needs its own", sim_file(handle->made),
               handle->made.line);
    return false;
}

cublasStatus_t cudasim_blas_create(const char *file, int line, cublasHandle_t *handle) {
    ENTER("cublasCreate", file, line);
    if (handle == NULL) {
        sim_report("cuBLAS argument", "cublasCreate at %s:%d: NULL instead of a handle's address",
                   sim_file((Place){file, line}), line);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    *handle = calloc(1, sizeof **handle);
    if (*handle == NULL) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    (*handle)->next = handles;
    handles = *handle;
    (*handle)->device = sim_device();
    (*handle)->made = (Place){file, line};
    sim_handle_made(*handle, "cublasCreate", (*handle)->made);
    blas_init();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cudasim_blas_destroy(const char *file, int line, cublasHandle_t handle) {
    ENTER("cublasDestroy", file, line);
    cublasStatus_t status = known("cublasDestroy", (Place){file, line}, handle);
    if (status != CUBLAS_STATUS_NOT_INITIALIZED &&
        sim_may_wait_device("cublasDestroy", (Place){file, line}) == cudaSuccess) {
        sim_wait_device(handle->device);
        *link_of(handle) = handle->next;
        sim_handle_ended(handle, "cublasDestroy", (Place){file, line}, free);
    }
    return status;
}

cublasStatus_t cudasim_blas_get_version(const char *file, int line, cublasHandle_t handle,
                                        int *version) {
    ENTER("cublasGetVersion", file, line);
    *version = 120400;
    return known("cublasGetVersion", (Place){file, line}, handle);
}

cublasStatus_t cudasim_blas_set_stream(const char *file, int line, cublasHandle_t handle,
                                       cudaStream_t stream) {
    ENTER("cublasSetStream", file, line);
    Place place = {file, line};
    cublasStatus_t status = known("cublasSetStream", place, handle);
    if (status == CUBLAS_STATUS_SUCCESS) {
        int slot = sim_stream_slot(stream, "cublasSetStream", place);
        if (slot < 0 ||
            (stream != NULL && !is_of_device("cublasSetStream", place, handle,
                                             queue_of(slot)->device, "the stream of device"))) {
            return CUBLAS_STATUS_INVALID_VALUE;
        }
        handle->stream = stream;
    }
    return status;
}

cublasStatus_t cudasim_blas_get_stream(const char *file, int line, cublasHandle_t handle,
                                       cudaStream_t *stream) {
    ENTER("cublasGetStream", file, line);
    cublasStatus_t status = known("cublasGetStream", (Place){file, line}, handle);
    if (status == CUBLAS_STATUS_SUCCESS) {
        *stream = handle->stream;
    }
    return status;
}

/* It is not used here, but it must be there. */
cublasStatus_t cudasim_blas_set_workspace(const char *file, int line, cublasHandle_t handle,
                                          void *workspace, size_t bytes) {
    ENTER("cublasSetWorkspace", file, line);
    cublasStatus_t status = known("cublasSetWorkspace", (Place){file, line}, handle);
    if (status == CUBLAS_STATUS_SUCCESS && bytes > 0 &&
        !sim_check_range("cublasSetWorkspace, workspace,", workspace, bytes, file, line)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return status;
}

cublasStatus_t cudasim_blas_set_pointer_mode(const char *file, int line, cublasHandle_t handle,
                                             cublasPointerMode_t mode) {
    ENTER("cublasSetPointerMode", file, line);
    cublasStatus_t status = known("cublasSetPointerMode", (Place){file, line}, handle);
    if (status == CUBLAS_STATUS_SUCCESS) {
        handle->pointers = mode;
    }
    return status;
}

cublasStatus_t cudasim_blas_get_pointer_mode(const char *file, int line, cublasHandle_t handle,
                                             cublasPointerMode_t *mode) {
    ENTER("cublasGetPointerMode", file, line);
    cublasStatus_t status = known("cublasGetPointerMode", (Place){file, line}, handle);
    if (status == CUBLAS_STATUS_SUCCESS) {
        *mode = handle->pointers;
    }
    return status;
}

cublasStatus_t cudasim_blas_begin(const char *file, int line, cublasHandle_t handle,
                                  const char *function, cudaStream_t *stream, int *on_device) {
    ENTER(function, file, line);
    cublasStatus_t status = known(function, (Place){file, line}, handle);
    if (status == CUBLAS_STATUS_SUCCESS) {
        *stream = handle->stream;
        *on_device = handle->pointers == CUBLAS_POINTER_MODE_DEVICE;
    }
    return status;
}

cublasStatus_t cudasim_blas_number(const char *file, int line, const char *function, int on_device,
                                   const char *name, const void *number, size_t bytes) {
    ENTER(function, file, line);
    return blas_check_number(function, (Place){file, line}, on_device, name, number, bytes);
}

cublasStatus_t cudasim_blas_set_math_mode(const char *file, int line, cublasHandle_t handle,
                                          cublasMath_t mode) {
    ENTER("cublasSetMathMode", file, line);
    cublasStatus_t status = known("cublasSetMathMode", (Place){file, line}, handle);
    if (status == CUBLAS_STATUS_SUCCESS) {
        handle->math = mode;
    }
    return status;
}

cublasStatus_t cudasim_blas_get_math_mode(const char *file, int line, cublasHandle_t handle,
                                          cublasMath_t *mode) {
    ENTER("cublasGetMathMode", file, line);
    cublasStatus_t status = known("cublasGetMathMode", (Place){file, line}, handle);
    if (status == CUBLAS_STATUS_SUCCESS) {
        *mode = handle->math;
    }
    return status;
}

cublasStatus_t cudasim_blas_set_atomics_mode(const char *file, int line, cublasHandle_t handle,
                                             cublasAtomicsMode_t mode) {
    ENTER("cublasSetAtomicsMode", file, line);
    (void)mode;
    return known("cublasSetAtomicsMode", (Place){file, line}, handle);
}

/* ---- products -------------------------------------------------------------------------------- */

static BlasMatrix matrix(char name, const void *data, cudaDataType_t type,
                         cublasOperation_t operation, int ld, long long stride) {
    return (BlasMatrix){.name = name,
                        .data = (void *)data,
                        .type = type,
                        .operation = operation,
                        .ld = ld,
                        .stride = stride};
}

static cublasStatus_t multiply(cublasHandle_t handle, Product product) {
    cublasStatus_t status = known(product.function, product.place, handle);
    if (status != CUBLAS_STATUS_SUCCESS) {
        return status;
    }
    if (!is_of_device(product.function, product.place, handle, sim_device(),
                      "the current device is")) {
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    product.device_scalars = handle->pointers == CUBLAS_POINTER_MODE_DEVICE;
    return product_submit(&product, handle->stream);
}

cublasStatus_t cudasim_blas_gemm_strided_batched_ex(
    const char *file, int line, const char *function, cublasHandle_t handle,
    cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void *alpha,
    const void *A, cudaDataType_t Atype, int lda, long long strideA, const void *B,
    cudaDataType_t Btype, int ldb, long long strideB, const void *beta, void *C,
    cudaDataType_t Ctype, int ldc, long long strideC, int batchCount,
    cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
    ENTER(function, file, line);
    (void)algo;
    return multiply(handle, (Product){.function = function,
                                      .place = {file, line},
                                      .m = m,
                                      .n = n,
                                      .k = k,
                                      .batch = batchCount,
                                      .compute = computeType,
                                      .alpha = alpha,
                                      .beta = beta,
                                      .A = matrix('A', A, Atype, transa, lda, strideA),
                                      .B = matrix('B', B, Btype, transb, ldb, strideB),
                                      .C = matrix('C', C, Ctype, CUBLAS_OP_N, ldc, strideC)});
}

static BlasMatrix matrices(char name, const void *const each[], cudaDataType_t type,
                           cublasOperation_t operation, int ld) {
    BlasMatrix all = matrix(name, NULL, type, operation, ld, 0);
    all.each = (void *const *)each;
    return all;
}

cublasStatus_t cudasim_blas_gemm_batched_ex(
    const char *file, int line, const char *function, cublasHandle_t handle,
    cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void *alpha,
    const void *const A[], cudaDataType_t Atype, int lda, const void *const B[],
    cudaDataType_t Btype, int ldb, const void *beta, void *const C[], cudaDataType_t Ctype, int ldc,
    int batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
    ENTER(function, file, line);
    (void)algo;
    return multiply(handle,
                    (Product){.function = function,
                              .place = {file, line},
                              .m = m,
                              .n = n,
                              .k = k,
                              .batch = batchCount,
                              .compute = computeType,
                              .alpha = alpha,
                              .beta = beta,
                              .A = matrices('A', A, Atype, transa, lda),
                              .B = matrices('B', B, Btype, transb, ldb),
                              .C = matrices('C', (const void *const *)C, Ctype, CUBLAS_OP_N, ldc)});
}

/* The others are batches of one, or say what their numbers are. */

cublasStatus_t cudasim_blas_gemm_ex(const char *file, int line, const char *function,
                                    cublasHandle_t handle, cublasOperation_t transa,
                                    cublasOperation_t transb, int m, int n, int k,
                                    const void *alpha, const void *A, cudaDataType_t Atype, int lda,
                                    const void *B, cudaDataType_t Btype, int ldb, const void *beta,
                                    void *C, cudaDataType_t Ctype, int ldc,
                                    cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
    return cudasim_blas_gemm_strided_batched_ex(file, line, function, handle, transa, transb, m, n,
                                                k, alpha, A, Atype, lda, 0, B, Btype, ldb, 0, beta,
                                                C, Ctype, ldc, 0, 1, computeType, algo);
}

cublasStatus_t cudasim_blas_sgemm_strided_batched(const char *file, int line, cublasHandle_t handle,
                                                  cublasOperation_t transa,
                                                  cublasOperation_t transb, int m, int n, int k,
                                                  const float *alpha, const float *A, int lda,
                                                  long long strideA, const float *B, int ldb,
                                                  long long strideB, const float *beta, float *C,
                                                  int ldc, long long strideC, int batchCount) {
    return cudasim_blas_gemm_strided_batched_ex(
        file, line, "cublasSgemmStridedBatched", handle, transa, transb, m, n, k, alpha, A,
        CUDA_R_32F, lda, strideA, B, CUDA_R_32F, ldb, strideB, beta, C, CUDA_R_32F, ldc, strideC,
        batchCount, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cudasim_blas_sgemm(const char *file, int line, cublasHandle_t handle,
                                  cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                  int k, const float *alpha, const float *A, int lda,
                                  const float *B, int ldb, const float *beta, float *C, int ldc) {
    return cudasim_blas_gemm_ex(file, line, "cublasSgemm", handle, transa, transb, m, n, k, alpha,
                                A, CUDA_R_32F, lda, B, CUDA_R_32F, ldb, beta, C, CUDA_R_32F, ldc,
                                CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
