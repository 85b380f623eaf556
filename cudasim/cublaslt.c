#include "cublasLt.h"

#include "cublas_product.h"
#include "device.h"

/* cuBLASLt describes a product in pieces; they come together in cublasLtMatmul(), and the work is
   that of cuBLAS. */

/* A cublasHandle_t may be cast to this, and begins so. */
struct cublasLtContext {
    int device; /* that was current when it was made */
};

struct cudasim_lt_layout {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t ld, stride;
    int32_t batch;
};

struct cudasim_lt_matmul {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    int32_t pointers;
    int32_t transa, transb;
    Epilogue after;
};

struct cudasim_lt_preference {
    size_t workspace;
};

static cublasStatus_t made(const void *p) {
    return p != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

static cublasStatus_t taken_down(void *p) {
    free(p);
    return p != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    ENTER("cublasLtCreate", NULL, 0);
    *handle = sim_realloc(NULL, sizeof **handle);
    (*handle)->device = sim_device();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    ENTER("cublasLtDestroy", NULL, 0);
    return taken_down(handle);
}

size_t cublasLtGetVersion(void) {
    return CUDART_VERSION * 10;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
    ENTER("cublasLtMatrixLayoutCreate", NULL, 0);
    *layout = sim_realloc(NULL, sizeof **layout);
    **layout = (struct cudasim_lt_layout){type, rows, columns, ld, 0, 1};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    ENTER("cublasLtMatrixLayoutDestroy", NULL, 0);
    return taken_down(layout);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *matmul, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
    ENTER("cublasLtMatmulDescCreate", NULL, 0);
    *matmul = sim_realloc(NULL, sizeof **matmul);
    **matmul = (struct cudasim_lt_matmul){.compute = compute, .scale = scale};
    (*matmul)->after.kind = CUBLASLT_EPILOGUE_DEFAULT;
    (*matmul)->after.bias_type = (*matmul)->after.aux_type = -1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmul) {
    ENTER("cublasLtMatmulDescDestroy", NULL, 0);
    return taken_down(matmul);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    ENTER("cublasLtMatmulPreferenceCreate", NULL, 0);
    return made(*preference = calloc(1, sizeof **preference));
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    ENTER("cublasLtMatmulPreferenceDestroy", NULL, 0);
    return taken_down(preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes) {
    ENTER("cublasLtMatmulPreferenceSetAttribute", NULL, 0);
    (void)attribute, (void)bytes;
    return preference != NULL && value != NULL ? CUBLAS_STATUS_SUCCESS
                                               : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cudasim_lt_heuristic(cublasLtHandle_t handle, int wanted,
                                    cublasLtMatmulHeuristicResult_t *results, int *found) {
    ENTER("cublasLtMatmulAlgoGetHeuristic", NULL, 0);
    if (handle == NULL || wanted < 1 || results == NULL || found == NULL) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    memset(results, 0, sizeof *results);
    results->state = CUBLAS_STATUS_SUCCESS;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static cublasStatus_t unsupported(const char *call, Place place, const char *what, int number) {
    sim_report("unsupported", "%s at %s:%d: %s %d is not simulated", call, sim_file(place),
               place.line, what, number);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

static cublasStatus_t put(void *to, size_t size, const void *value, size_t bytes) {
    if (value == NULL || bytes != size) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    memcpy(to, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cudasim_lt_set_layout(const char *file, int line, cublasLtMatrixLayout_t layout,
                                     cublasLtMatrixLayoutAttribute_t attribute, const void *value,
                                     size_t bytes) {
    ENTER("cublasLtMatrixLayoutSetAttribute", file, line);
    static const char call[] = "cublasLtMatrixLayoutSetAttribute";
    Place place = {file, line};
    if (layout == NULL) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
#define PUT(member) put(&layout->member, sizeof layout->member, value, bytes)
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
        return PUT(type);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
        return PUT(rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
        return PUT(columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
        return PUT(ld);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
        return PUT(batch);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
        return PUT(stride);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: {
        int32_t order = 0;
        cublasStatus_t status = put(&order, sizeof order, value, bytes);
        return order == CUBLASLT_ORDER_COL ? status : unsupported(call, place, "order", order);
    }
    }
#undef PUT
    return unsupported(call, place, "attribute", (int)attribute);
}

cublasStatus_t cudasim_lt_set_matmul(const char *file, int line, cublasLtMatmulDesc_t matmul,
                                     cublasLtMatmulDescAttributes_t attribute, const void *value,
                                     size_t bytes) {
    ENTER("cublasLtMatmulDescSetAttribute", file, line);
    if (matmul == NULL) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
#define PUT(member) put(&matmul->member, sizeof matmul->member, value, bytes)
    switch ((int)attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
        return PUT(compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
        return PUT(scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
        return PUT(pointers);
    case CUBLASLT_MATMUL_DESC_TRANSA:
        return PUT(transa);
    case CUBLASLT_MATMUL_DESC_TRANSB:
        return PUT(transb);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return PUT(after.kind);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return PUT(after.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
        return PUT(after.bias_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
        return PUT(after.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
        return PUT(after.aux_ld);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
        return PUT(after.aux_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
        return PUT(after.aux_type);
    }
#undef PUT
    return unsupported("cublasLtMatmulDescSetAttribute", (Place){file, line}, "attribute",
                       (int)attribute);
}

/* ---- the product ----------------------------------------------------------------------------- */

static BlasMatrix matrix(char name, const void *data, const struct cudasim_lt_layout *layout,
                         int operation) {
    return (BlasMatrix){.name = name,
                        .data = (void *)(uintptr_t)data,
                        .type = layout->type,
                        .operation = (cublasOperation_t)operation,
                        .ld = (int)layout->ld,
                        .stride = layout->stride};
}

static uint64_t rows_of(const struct cudasim_lt_layout *layout, int operation) {
    return operation == CUBLAS_OP_N ? layout->rows : layout->columns;
}

static uint64_t columns_of(const struct cudasim_lt_layout *layout, int operation) {
    return operation == CUBLAS_OP_N ? layout->columns : layout->rows;
}

static bool fits(const Product *p, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t A,
                 cublasLtMatrixLayout_t B, cublasLtMatrixLayout_t D) {
    if (columns_of(A, matmul->transa) == rows_of(B, matmul->transb) &&
        rows_of(A, matmul->transa) == D->rows && columns_of(B, matmul->transb) == D->columns &&
        A->batch == D->batch && B->batch == D->batch) {
        return true;
    }
    sim_report("cuBLAS argument",
               "cublasLtMatmul at %s:%d: op(A) is %ld by %ld, op(B) %ld by %ld, D %ld by %ld, and "
               "batches of %d, %d, %d",
               sim_file(p->place), p->place.line, (long)rows_of(A, matmul->transa),
               (long)columns_of(A, matmul->transa), (long)rows_of(B, matmul->transb),
               (long)columns_of(B, matmul->transb), (long)D->rows, (long)D->columns, A->batch,
               B->batch, D->batch);
    return false;
}

cublasStatus_t cudasim_lt_matmul(const char *file, int line, cublasLtHandle_t handle,
                                 cublasLtMatmulDesc_t matmul, const void *alpha, const void *A,
                                 cublasLtMatrixLayout_t A_layout, const void *B,
                                 cublasLtMatrixLayout_t B_layout, const void *beta, const void *C,
                                 cublasLtMatrixLayout_t C_layout, void *D,
                                 cublasLtMatrixLayout_t D_layout, const cublasLtMatmulAlgo_t *algo,
                                 void *workspace, size_t workspace_bytes, cudaStream_t stream) {
    ENTER("cublasLtMatmul", file, line);
    static const char call[] = "cublasLtMatmul";
    Place place = {file, line};
    (void)algo, (void)workspace, (void)workspace_bytes;
    if (handle == NULL || matmul == NULL || A_layout == NULL || B_layout == NULL ||
        C_layout == NULL || D_layout == NULL) {
        sim_report("cuBLAS argument", "%s at %s:%d: the handle or a description is NULL", call,
                   sim_file(place), line);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (handle->device != sim_device()) {
        sim_report("cuBLAS argument",
                   "%s at %s:%d: the handle is of device %d, the current device is %d", call,
                   sim_file(place), line, handle->device, sim_device());
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    Product product = {.function = call,
                       .place = place,
                       .m = (int)D_layout->rows,
                       .n = (int)D_layout->columns,
                       .k = (int)columns_of(A_layout, matmul->transa),
                       .batch = D_layout->batch,
                       .compute = matmul->compute,
                       .device_scalars = matmul->pointers != 0,
                       .alpha = alpha,
                       .beta = beta,
                       .after = matmul->after,
                       .A = matrix('A', A, A_layout, matmul->transa),
                       .B = matrix('B', B, B_layout, matmul->transb),
                       .C = matrix('C', D, D_layout, CUBLAS_OP_N)};
    if (matmul->scale != product_sums(&product)) {
        bool in_half = product_sums(&product) == CUDA_R_16F;
        return unsupported(call, place,
                           in_half ? "sums in fp16 take alpha and beta in fp16, scale type 2; type"
                                   : "scale type",
                           (int)matmul->scale);
    }
    if (C != D && C != NULL &&
        (matmul->pointers != 0 || blas_number(beta, 0, matmul->scale) != 0)) {
        sim_report("unsupported", "%s at %s:%d: with beta, C and D must be the same", call,
                   sim_file(place), line);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (!fits(&product, matmul, A_layout, B_layout, D_layout)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return product_submit(&product, stream);
}
