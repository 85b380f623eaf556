#include <stdarg.h>

#include "cublas_product.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device.h"
#include "operation.h"

/* Are the arguments of a product good? What is wrong with them is reported. */

size_t blas_number_bytes(cudaDataType_t type) {
    return type == CUDA_R_32F ? 4 : type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 0;
}

float blas_number(const void *numbers, int i, cudaDataType_t type) {
    switch (type) {
    case CUDA_R_16F:
        return cudasim_half_to_float(((const unsigned short *)numbers)[i]);
    case CUDA_R_16BF:
        return cudasim_bf16_to_float(((const unsigned short *)numbers)[i]);
    default:
        return ((const float *)numbers)[i];
    }
}

cudaDataType_t product_sums(const Product *p) {
    bool in_half = p->compute == CUBLAS_COMPUTE_16F || p->compute == CUBLAS_COMPUTE_16F_PEDANTIC;
    return in_half ? CUDA_R_16F : CUDA_R_32F;
}

void *blas_column(const BlasMatrix *x, int z, int column) {
    size_t index = (size_t)z * (size_t)x->stride + (size_t)column * x->ld;
    return (char *)x->data + index * blas_number_bytes(x->type);
}

/* Begins a report about the call. */
__attribute__((format(printf, 2, 3))) static cublasStatus_t wrong(const Product *p,
                                                                  const char *format, ...) {
    char text[300];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    sim_report("cuBLAS argument", "%s at %s:%d: %s", p->function, sim_file(p->place), p->place.line,
               text);
    return CUBLAS_STATUS_INVALID_VALUE;
}

static const char *name_of(cudaDataType_t type) {
    return type == CUDA_R_32F ? "float" : type == CUDA_R_16F ? "fp16" : "bf16";
}

static cublasStatus_t check_types(const Product *p) {
    if (blas_number_bytes(p->A.type) == 0 || blas_number_bytes(p->B.type) == 0 ||
        blas_number_bytes(p->C.type) == 0) {
        sim_report("unsupported", "%s at %s:%d: matrices of float, fp16 and bf16 are simulated",
                   p->function, sim_file(p->place), p->place.line);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (p->compute == CUBLAS_COMPUTE_64F || p->compute == CUBLAS_COMPUTE_64F_PEDANTIC ||
        p->compute == CUBLAS_COMPUTE_32I || p->compute == CUBLAS_COMPUTE_32I_PEDANTIC) {
        sim_report("unsupported", "%s at %s:%d: sums in float and fp16 are simulated", p->function,
                   sim_file(p->place), p->place.line);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (product_sums(p) == CUDA_R_16F && (p->A.type != CUDA_R_16F || p->C.type != CUDA_R_16F)) {
        wrong(p, "sums in fp16 are of fp16 matrices, and A is of %s, C of %s", name_of(p->A.type),
              name_of(p->C.type));
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (p->A.type != p->B.type || (p->C.type != p->A.type && p->C.type != CUDA_R_32F)) {
        wrong(p, "there is no product of %s and %s with a result in %s", name_of(p->A.type),
              name_of(p->B.type), name_of(p->C.type));
        sim_detail("A and B have one type, and C has that type or is float");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t check_leading(const Product *p, const BlasMatrix *x) {
    if (x->ld < 1 || x->ld < x->rows) {
        wrong(p, "ld%c is %d, but the stored %c has %d rows", x->name + ('a' - 'A'), x->ld, x->name,
              x->rows);
        sim_detail("cuBLAS stores by columns: the leading dimension leads from one column to the "
                   "next, so it is at least the number of rows");
        sim_detail("rows in memory one after the other look like a transposed matrix to it. For "
                   "row-major C = A B ask for C^T = B^T A^T:");
        sim_detail("give B as first factor and A as second, swap m and n, and take the length of a "
                   "row as leading dimension");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (x->stride < 0) {
        return wrong(p, "the stride of %c is %lld", x->name, x->stride);
    }
    return CUBLAS_STATUS_SUCCESS;
}

/* The bytes that it spans, gaps between columns and matrices included. */
static size_t extent(const BlasMatrix *x, int batch) {
    size_t last = (size_t)(batch - 1) * (size_t)x->stride + (size_t)(x->columns - 1) * x->ld;
    return (last + x->rows) * blas_number_bytes(x->type);
}

static cublasStatus_t check_host(const Product *p, const BlasMatrix *x, const void *data,
                                 const char *what) {
    if (sim_allocation(data) != NULL || sim_on_device(data)) {
        return CUBLAS_STATUS_SUCCESS;
    }
    wrong(p, "%s %c is %p, a HOST pointer", what, x->name, data);
    sim_detail("give it memory from cudaMalloc, filled with cudaMemcpy(..., "
               "cudaMemcpyHostToDevice)");
    return CUBLAS_STATUS_EXECUTION_FAILED;
}

/* A call notes the memory that it is given as used; a member of an array runs already. */
static bool may_use(const Product *p, Allocation *a, const char *what) {
    return (p->is_member || sim_use(a, p->slot, what, p->place)) &&
           sim_kernel_may_use(a, p->slot, what, p->place);
}

/* The pointers of a batch; the matrices are looked at when they are read. */
static cublasStatus_t check_array(const Product *p, const BlasMatrix *x) {
    Allocation *a = sim_allocation(x->each);
    cublasStatus_t status = check_host(p, x, x->each, "the array of matrices");
    if (status != CUBLAS_STATUS_SUCCESS) {
        return status;
    }
    char what[100];
    snprintf(what, sizeof what, "%s, array of matrices %c,", p->function, x->name);
    bool inside = sim_check_range(what, x->each, (size_t)p->batch * sizeof *x->each, p->place.file,
                                  p->place.line);
    return inside && may_use(p, a, what) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

static cublasStatus_t check_memory(const Product *p, const BlasMatrix *x) {
    if (x->each != NULL) {
        return check_array(p, x);
    }
    Allocation *a = sim_allocation(x->data);
    if (x->data == NULL) {
        return wrong(p, "matrix %c is NULL", x->name);
    }
    cublasStatus_t status = check_host(p, x, x->data, "matrix");
    if (status != CUBLAS_STATUS_SUCCESS) {
        return status;
    }
    if ((uintptr_t)x->data % blas_number_bytes(x->type) != 0) {
        return wrong(p, "matrix %c is %p, which is not an address of a %s", x->name, x->data,
                     name_of(x->type));
    }
    char what[100];
    snprintf(what, sizeof what, "%s, matrix %c,", p->function, x->name);
    size_t bytes = extent(x, p->batch);
    if (!(p->is_member ? sim_check_range_now(what, x->data, bytes, p->place)
                       : sim_check_range(what, x->data, bytes, p->place.file, p->place.line))) {
        sim_detail("as stored %c has %d rows and %d columns of %s, ld%c is %d%s", x->name, x->rows,
                   x->columns, name_of(x->type), x->name + ('a' - 'A'), x->ld,
                   p->batch > 1 ? ", and it is one of a batch" : "");
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    return may_use(p, a, what) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

static int by_address(const void *a, const void *b) {
    const char *const *p = a, *const *q = b;
    return (*p > *q) - (*p < *q);
}

/* Where the columns of all matrices of the batch begin, in ascending order. */
static const char **columns_of(const BlasMatrix *x, size_t count) {
    const char **begin = sim_realloc(NULL, count * sizeof *begin);
    for (size_t i = 0; i < count; i++) {
        begin[i] = blas_column(x, (int)(i / (size_t)x->columns), (int)(i % (size_t)x->columns));
    }
    qsort(begin, count, sizeof *begin, by_address);
    return begin;
}

/* Matrices may lie between each other's columns. */
static bool share_bytes(const Product *p, const BlasMatrix *x, const BlasMatrix *y) {
    size_t nx = (size_t)p->batch * (size_t)x->columns, ny = (size_t)p->batch * (size_t)y->columns;
    const char **a = columns_of(x, nx), **b = columns_of(y, ny);
    bool shared = false;
    for (size_t i = 0, j = 0; i < nx && j < ny && !shared;) {
        if (a[i] + x->rows * blas_number_bytes(x->type) <= b[j]) {
            i++;
        } else if (b[j] + y->rows * blas_number_bytes(y->type) <= a[i]) {
            j++;
        } else {
            shared = true;
        }
    }
    free(a);
    free(b);
    return shared;
}

/* C may be read as beta says, but it is not what is multiplied. */
static cublasStatus_t check_apart(const Product *p, const BlasMatrix *x) {
    const char *c = p->C.data, *factor = x->data;
    if (x->each != NULL || c >= factor + extent(x, p->batch) ||
        factor >= c + extent(&p->C, p->batch) || !share_bytes(p, x, &p->C)) {
        return CUBLAS_STATUS_SUCCESS;
    }
    wrong(p, "C lies on %c: the product would overwrite a factor that is still read", x->name);
    sim_detail("cuBLAS does not multiply in place: give C memory of its own");
    sim_detail_address(c);
    return CUBLAS_STATUS_INVALID_VALUE;
}

/* Pinned memory is the device's as well, and managed memory the host's. */
static bool can_reach(bool device, const void *number) {
    const Allocation *a = sim_allocation(number);
    return sim_on_device(number) == device || (a != NULL && (a->pinned || a->managed));
}

cublasStatus_t blas_check_number(const char *function, Place place, bool device, const char *name,
                                 const void *number, size_t bytes) {
    if (number == NULL) {
        sim_report("cuBLAS argument", "%s at %s:%d: %s is NULL", function, sim_file(place),
                   place.line, name);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!can_reach(device, number)) {
        sim_report("cuBLAS argument",
                   "%s at %s:%d: %s is a %s pointer, but the pointer mode says %s", function,
                   sim_file(place), place.line, name, device ? "HOST" : "DEVICE",
                   device ? "device" : "host");
        sim_detail("the mode is host until cublasSetPointerMode(handle, "
                   "CUBLAS_POINTER_MODE_DEVICE)");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    char what[100];
    snprintf(what, sizeof what, "%s, %s,", function, name);
    return !device || sim_check_range(what, number, bytes, place.file, place.line)
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_EXECUTION_FAILED;
}

static cublasStatus_t check_scalar(const Product *p, const char *name, const void *scalar) {
    return blas_check_number(p->function, p->place, p->device_scalars, name, scalar,
                             blas_number_bytes(product_sums(p)));
}

/* ---- epilogues ------------------------------------------------------------------------------- */

BlasMatrix product_bias(const Product *p) {
    cudaDataType_t type = p->after.bias_type < 0 ? p->C.type : (cudaDataType_t)p->after.bias_type;
    return (BlasMatrix){.name = 'b',
                        .data = (void *)(uintptr_t)p->after.bias,
                        .type = type,
                        .ld = p->m,
                        .rows = p->m,
                        .columns = 1};
}

BlasMatrix product_aux(const Product *p) {
    cudaDataType_t type = p->after.aux_type < 0 ? p->C.type : (cudaDataType_t)p->after.aux_type;
    return (BlasMatrix){.name = 'x',
                        .data = p->after.aux,
                        .type = type,
                        .ld = (int)p->after.aux_ld,
                        .stride = p->after.aux_stride,
                        .rows = p->m,
                        .columns = p->n};
}

static bool known_epilogue(int kind) {
    int function = kind & ~(BIAS | AUX);
    return kind == 0 || kind == 1 || kind == BIAS || (function == GELU && kind >= GELU) ||
           (function == RELU && !(kind & AUX));
}

static cublasStatus_t check_epilogue(const Product *p) {
    if (!known_epilogue(p->after.kind)) {
        sim_report("unsupported", "%s at %s:%d: epilogue %d is not simulated", p->function,
                   sim_file(p->place), p->place.line, p->after.kind);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    BlasMatrix bias = product_bias(p), aux = product_aux(p);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (p->after.kind & BIAS) {
        status = check_memory(p, &bias);
    }
    if (status == CUBLAS_STATUS_SUCCESS && p->after.kind & AUX) {
        status = aux.ld < p->m ? wrong(p,
                                       "the leading dimension of its second result is %d, but "
                                       "that has %d rows",
                                       aux.ld, p->m)
                               : check_memory(p, &aux);
    }
    return status;
}

bool product_has_factors(const Product *p) {
    return p->k > 0 && (p->device_scalars || p->alpha_read != 0);
}

/* Matrices in memory: the factors, unless they are not read, and the result. */
static cublasStatus_t check_matrices(const Product *p) {
    cublasStatus_t status;
    if (product_has_factors(p) && ((status = check_memory(p, &p->A)) != CUBLAS_STATUS_SUCCESS ||
                                   (status = check_memory(p, &p->B)) != CUBLAS_STATUS_SUCCESS ||
                                   (status = check_apart(p, &p->A)) != CUBLAS_STATUS_SUCCESS ||
                                   (status = check_apart(p, &p->B)) != CUBLAS_STATUS_SUCCESS)) {
        return status;
    }
    status = check_epilogue(p);
    return status == CUBLAS_STATUS_SUCCESS ? check_memory(p, &p->C) : status;
}

cublasStatus_t product_check(Product *p) {
    cublasStatus_t status = check_types(p);
    if (status != CUBLAS_STATUS_SUCCESS) {
        return status;
    }
    if (p->m < 0 || p->n < 0 || p->k < 0 || p->batch < 0) {
        return wrong(p, "m, n, k are %d, %d, %d, and the batch has %d", p->m, p->n, p->k, p->batch);
    }
    if ((status = check_leading(p, &p->A)) != CUBLAS_STATUS_SUCCESS ||
        (status = check_leading(p, &p->B)) != CUBLAS_STATUS_SUCCESS ||
        (status = check_leading(p, &p->C)) != CUBLAS_STATUS_SUCCESS ||
        (status = check_scalar(p, "alpha", p->alpha)) != CUBLAS_STATUS_SUCCESS ||
        (status = check_scalar(p, "beta", p->beta)) != CUBLAS_STATUS_SUCCESS) {
        return status;
    }
    if (p->batch > 1 && p->C.each == NULL && p->C.stride < p->C.rows) {
        wrong(p, "the stride of C is %lld, but one column of it has %d numbers", p->C.stride,
              p->C.rows);
        sim_detail("the products of the batch would overwrite each other");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!p->device_scalars) {
        p->alpha_read = blas_number(p->alpha, 0, product_sums(p));
        p->beta_read = blas_number(p->beta, 0, product_sums(p));
    }
    bool empty = p->m == 0 || p->n == 0 || p->batch == 0;
    return empty ? CUBLAS_STATUS_SUCCESS : check_matrices(p);
}

/* ---- arrays of pointers ---------------------------------------------------------------------- */

static BlasMatrix matrix_of(const BlasMatrix *x, int z) {
    BlasMatrix one = *x;
    if (x->each != NULL) {
        sim_touch(&x->each[z], sizeof *x->each, false);
        one.data = x->each[z];
        one.each = NULL;
    }
    return one;
}

Product product_member(const Product *p, int z) {
    Product one = *p;
    one.batch = 1;
    one.is_member = true;
    one.A = matrix_of(&p->A, z);
    one.B = matrix_of(&p->B, z);
    one.C = matrix_of(&p->C, z);
    return one;
}

bool product_check_results(const Product *p) {
    const char **result = sim_realloc(NULL, (size_t)p->batch * sizeof *result);
    for (int z = 0; z < p->batch; z++) {
        result[z] = matrix_of(&p->C, z).data;
    }
    qsort(result, (size_t)p->batch, sizeof *result, by_address);
    int z = 1;
    while (z < p->batch && result[z] != result[z - 1]) {
        z++;
    }
    bool apart = z >= p->batch;
    if (!apart) {
        wrong(p, "two matrices C of the batch begin at %p", (const void *)result[z]);
        sim_detail("the products of the batch would overwrite each other");
    }
    free(result);
    return apart;
}

bool product_check_member(const Product *p) {
    return check_matrices(p) == CUBLAS_STATUS_SUCCESS;
}
