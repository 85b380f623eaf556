#include "cublas_product.h"
#include "cudasim_record.h"
#include "device.h"
#include "operation.h"

#include <stdarg.h>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "kernels/blas.h"

/* ---- are the arguments good? ----------------------------------------------------------------- */

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

static size_t size_of(cudaDataType_t type) {
    return type == CUDA_R_32F ? 4 : type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 0;
}

static const char *name_of(cudaDataType_t type) {
    return type == CUDA_R_32F ? "float" : type == CUDA_R_16F ? "fp16" : "bf16";
}

static cublasStatus_t check_types(const Product *p) {
    if (size_of(p->A.type) == 0 || size_of(p->B.type) == 0 || size_of(p->C.type) == 0) {
        sim_report("unsupported", "%s at %s:%d: matrices of float, fp16 and bf16 are simulated",
                   p->function, sim_file(p->place), p->place.line);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (p->compute == CUBLAS_COMPUTE_16F || p->compute == CUBLAS_COMPUTE_64F) {
        sim_report("unsupported", "%s at %s:%d: sums are floats, CUBLAS_COMPUTE_32F", p->function,
                   sim_file(p->place), p->place.line);
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
    return (last + x->rows) * size_of(x->type);
}

static cublasStatus_t check_memory(const Product *p, const BlasMatrix *x, int slot) {
    Allocation *a = sim_allocation(x->data);
    if (x->data == NULL) {
        return wrong(p, "matrix %c is NULL", x->name);
    }
    if (a == NULL && !sim_on_device(x->data)) {
        wrong(p, "matrix %c is %p, a HOST pointer", x->name, x->data);
        sim_detail("give it memory from cudaMalloc, filled with cudaMemcpy(..., "
                   "cudaMemcpyHostToDevice)");
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if ((uintptr_t)x->data % size_of(x->type) != 0) {
        return wrong(p, "matrix %c is %p, which is not an address of a %s", x->name, x->data,
                     name_of(x->type));
    }
    char what[100];
    snprintf(what, sizeof what, "%s, matrix %c,", p->function, x->name);
    if (!sim_check_range(what, x->data, extent(x, p->batch), p->place.file, p->place.line)) {
        sim_detail("as stored %c has %d rows and %d columns of %s, ld%c is %d%s", x->name, x->rows,
                   x->columns, name_of(x->type), x->name + ('a' - 'A'), x->ld,
                   p->batch > 1 ? ", and it is one of a batch" : "");
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    bool good = sim_use(a, slot, what, p->place) && sim_kernel_may_use(a, slot, what, p->place);
    return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

static void *column_of(const BlasMatrix *x, int z, int column);

static int by_address(const void *a, const void *b) {
    const char *const *p = a, *const *q = b;
    return (*p > *q) - (*p < *q);
}

/* Where the columns of all matrices of the batch begin, in ascending order. */
static const char **columns_of(const BlasMatrix *x, size_t count) {
    const char **begin = sim_realloc(NULL, count * sizeof *begin);
    for (size_t i = 0; i < count; i++) {
        begin[i] = column_of(x, (int)(i / (size_t)x->columns), (int)(i % (size_t)x->columns));
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
        if (a[i] + x->rows * size_of(x->type) <= b[j]) {
            i++;
        } else if (b[j] + y->rows * size_of(y->type) <= a[i]) {
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
    if (c >= factor + extent(x, p->batch) || factor >= c + extent(&p->C, p->batch) ||
        !share_bytes(p, x, &p->C)) {
        return CUBLAS_STATUS_SUCCESS;
    }
    wrong(p, "C lies on %c: the product would overwrite a factor that is still read", x->name);
    sim_detail("cuBLAS does not multiply in place: give C memory of its own");
    sim_detail_address(c);
    return CUBLAS_STATUS_INVALID_VALUE;
}

static cublasStatus_t check_scalar(const Product *p, const char *name, const float *scalar) {
    if (scalar == NULL) {
        return wrong(p, "%s is NULL", name);
    }
    if (sim_on_device(scalar) == p->device_scalars) {
        char what[100];
        snprintf(what, sizeof what, "%s, %s,", p->function, name);
        return !p->device_scalars ||
                       sim_check_range(what, scalar, sizeof *scalar, p->place.file, p->place.line)
                   ? CUBLAS_STATUS_SUCCESS
                   : CUBLAS_STATUS_EXECUTION_FAILED;
    }
    wrong(p, "%s is a %s pointer, but the pointer mode says %s", name,
          p->device_scalars ? "HOST" : "DEVICE", p->device_scalars ? "device" : "host");
    sim_detail("the mode is host until cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE)");
    return CUBLAS_STATUS_INVALID_VALUE;
}

static void set_shape(BlasMatrix *x, int rows, int columns) {
    bool transposed = x->operation != CUBLAS_OP_N;
    x->rows = transposed ? columns : rows;
    x->columns = transposed ? rows : columns;
}

/* ---- epilogues ------------------------------------------------------------------------------- */

enum { BIAS = 4, RELU = 2, GELU = 32, AUX = 128 }; /* bits of a cublasLtEpilogue_t */

static BlasMatrix bias_of(const Product *p) {
    cudaDataType_t type = p->after.bias_type < 0 ? p->C.type : (cudaDataType_t)p->after.bias_type;
    return (BlasMatrix){.name = 'b',
                        .data = (void *)(uintptr_t)p->after.bias,
                        .type = type,
                        .ld = p->m,
                        .rows = p->m,
                        .columns = 1};
}

static BlasMatrix aux_of(const Product *p) {
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

static cublasStatus_t check_memory(const Product *p, const BlasMatrix *x, int slot);

static cublasStatus_t check_epilogue(const Product *p, int slot) {
    if (!known_epilogue(p->after.kind)) {
        sim_report("unsupported", "%s at %s:%d: epilogue %d is not simulated", p->function,
                   sim_file(p->place), p->place.line, p->after.kind);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    BlasMatrix bias = bias_of(p), aux = aux_of(p);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (p->after.kind & BIAS) {
        status = check_memory(p, &bias, slot);
    }
    if (status == CUBLAS_STATUS_SUCCESS && p->after.kind & AUX) {
        status = aux.ld < p->m ? wrong(p,
                                       "the leading dimension of its second result is %d, but "
                                       "that has %d rows",
                                       aux.ld, p->m)
                               : check_memory(p, &aux, slot);
    }
    return status;
}

static bool has_factors(const Product *p) {
    return p->k > 0 && (p->device_scalars || p->alpha_read != 0);
}

/* The first thing that is wrong. */
static cublasStatus_t check(Product *p, int slot) {
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
    if (p->batch > 1 && p->C.stride < p->C.rows) {
        wrong(p, "the stride of C is %lld, but one column of it has %d numbers", p->C.stride,
              p->C.rows);
        sim_detail("the products of the batch would overwrite each other");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!p->device_scalars) {
        p->alpha_read = *p->alpha;
        p->beta_read = *p->beta;
    }
    if (p->m == 0 || p->n == 0 || p->batch == 0) {
        return CUBLAS_STATUS_SUCCESS;
    }
    if (has_factors(p) && ((status = check_memory(p, &p->A, slot)) != CUBLAS_STATUS_SUCCESS ||
                           (status = check_memory(p, &p->B, slot)) != CUBLAS_STATUS_SUCCESS ||
                           (status = check_apart(p, &p->A)) != CUBLAS_STATUS_SUCCESS ||
                           (status = check_apart(p, &p->B)) != CUBLAS_STATUS_SUCCESS)) {
        return status;
    }
    status = check_epilogue(p, slot);
    return status == CUBLAS_STATUS_SUCCESS ? check_memory(p, &p->C, slot) : status;
}

/* ---- the work -------------------------------------------------------------------------------- */

/* Where column `column` of matrix z of the batch begins. */
static void *column_of(const BlasMatrix *x, int z, int column) {
    size_t index = (size_t)z * (size_t)x->stride + (size_t)column * x->ld;
    return (char *)x->data + index * size_of(x->type);
}

/* Tells the simulator which bytes are read or written: not the gaps between columns. */
static void touch(const BlasMatrix *x, int z, bool write) {
    for (int column = 0; column < x->columns; column++) {
        sim_touch(column_of(x, z, column), x->rows * size_of(x->type), write);
    }
}

static float read_number(const void *column, int row, cudaDataType_t type) {
    switch (type) {
    case CUDA_R_16F:
        return cudasim_half_to_float(((const unsigned short *)column)[row]);
    case CUDA_R_16BF:
        return cudasim_bf16_to_float(((const unsigned short *)column)[row]);
    default:
        return ((const float *)column)[row];
    }
}

static void write_number(void *column, int row, cudaDataType_t type, float value) {
    switch (type) {
    case CUDA_R_16F:
        ((unsigned short *)column)[row] = cudasim_half_from_float(value);
        break;
    case CUDA_R_16BF:
        ((unsigned short *)column)[row] = cudasim_bf16_from_float(value);
        break;
    default:
        ((float *)column)[row] = value;
    }
}

/* A factor as floats, its columns with no gap. */
static float *read_factor(const BlasMatrix *x, int z) {
    float *factor = sim_realloc(NULL, ((size_t)x->rows * x->columns) * sizeof(float));
    touch(x, z, false);
    for (int column = 0; column < x->columns; column++) {
        const void *from = column_of(x, z, column);
        for (int row = 0; row < x->rows; row++) {
            factor[(size_t)column * x->rows + row] = read_number(from, row, x->type);
        }
    }
    return factor;
}

/* The same as multiply(), without a library. */
static void multiply_plainly(const Product *p, const float *A, const float *B, float *result) {
    bool turn_A = p->A.operation != CUBLAS_OP_N, turn_B = p->B.operation != CUBLAS_OP_N;
    size_t A_row = turn_A ? p->A.rows : 1, A_column = turn_A ? 1 : p->A.rows;
    size_t B_row = turn_B ? p->B.rows : 1, B_column = turn_B ? 1 : p->B.rows;
    for (int column = 0; column < p->n; column++) {
        for (int row = 0; row < p->m; row++) {
            float sum = 0;
            for (int i = 0; i < p->k; i++) {
                sum += A[row * A_row + i * A_column] * B[i * B_row + column * B_column];
            }
            result[(size_t)column * p->m + row] = sum;
        }
    }
}

/* op(A) op(B), m by n by columns. To blas_sgemm(), which counts by rows, a matrix stored by columns
   is its transpose: so it is asked for the product's transpose, op(B)^T op(A)^T. */
static float *multiply(const Product *p, int z) {
    float *A = read_factor(&p->A, z), *B = read_factor(&p->B, z);
    float *result = sim_realloc(NULL, ((size_t)p->m * p->n) * sizeof(float));
    if (sim_ending()) {
        multiply_plainly(p, A, B, result);
    } else {
        blas_sgemm(p->B.operation != CUBLAS_OP_N, p->A.operation != CUBLAS_OP_N, p->n, p->m, p->k,
                   B, p->B.rows, A, p->A.rows, 0, result, p->m);
    }
    free(A);
    free(B);
    return result;
}

static float gelu(float x) {
    return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

/* The number that is stored for one of the product. */
static float finished(const Product *p, int z, int row, int column, float value) {
    int kind = p->after.kind;
    if (kind & BIAS) {
        BlasMatrix bias = bias_of(p);
        value += read_number(bias.data, row, bias.type);
    }
    if (kind & AUX) {
        BlasMatrix aux = aux_of(p);
        write_number(column_of(&aux, z, column), row, aux.type, value);
    }
    return kind & GELU ? gelu(value) : kind & RELU ? fmaxf(value, 0) : value;
}

static void touch_epilogue(const Product *p, int z) {
    BlasMatrix bias = bias_of(p), aux = aux_of(p);
    if (p->after.kind & BIAS) {
        touch(&bias, 0, false);
    }
    if (p->after.kind & AUX) {
        touch(&aux, z, true);
    }
}

/* C = alpha product + beta C. Where beta is 0, C is not read: it may be NaN. */
static void store(const Product *p, int z, const float *product, float alpha, float beta) {
    const BlasMatrix *C = &p->C;
    if (beta != 0) {
        touch(C, z, false);
    }
    touch(C, z, true);
    touch_epilogue(p, z);
    for (int column = 0; column < p->n; column++) {
        void *to = column_of(C, z, column);
        for (int row = 0; row < p->m; row++) {
            float value = product != NULL ? alpha * product[(size_t)column * p->m + row] : 0;
            value += beta != 0 ? beta * read_number(to, row, C->type) : 0;
            write_number(to, row, C->type, finished(p, z, row, column, value));
        }
    }
}

static float read_scalar(const Product *p, const float *scalar, float read_before) {
    if (p->device_scalars) {
        sim_touch(scalar, sizeof *scalar, false);
        return *scalar;
    }
    return read_before;
}

static void run(void *context) {
    const Product *p = context;
    if (sim_settings.dry) {
        return;
    }
    float alpha = read_scalar(p, p->alpha, p->alpha_read);
    float beta = read_scalar(p, p->beta, p->beta_read);
    for (int z = 0; z < p->batch; z++) {
        float *product = p->k > 0 && alpha != 0 ? multiply(p, z) : NULL;
        store(p, z, product, alpha, beta);
        free(product);
    }
}

static CudasimPrecision precision_of(const Product *p) {
    if (p->A.type == CUDA_R_16F || p->compute == CUBLAS_COMPUTE_32F_FAST_16F) {
        return CUDASIM_F16;
    }
    if (p->A.type == CUDA_R_16BF || p->compute == CUBLAS_COMPUTE_32F_FAST_16BF) {
        return CUDASIM_BF16;
    }
    return p->compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? CUDASIM_TF32 : CUDASIM_F32;
}

static double bytes_of(const BlasMatrix *x) {
    return (double)x->rows * x->columns * (double)size_of(x->type);
}

/* Each matrix is read or written once; C is read as well where beta is not 0. */
static void account(const void *context, CudasimEntry *entry) {
    const Product *p = context;
    bool adds = p->device_scalars || p->beta_read != 0;
    double factors = has_factors(p) ? bytes_of(&p->A) + bytes_of(&p->B) : 0;
    entry->kind = CUDASIM_PRODUCT;
    entry->precision = precision_of(p);
    entry->flops = has_factors(p) ? 2.0 * p->m * p->n * p->k * p->batch : 0;
    entry->bytes = p->batch * (factors + (adds ? 2 : 1) * bytes_of(&p->C));
}

static void entered(void *context, const Operation *operation) {
    (void)context;
    sim_event("product %s", operation->what);
}

cublasStatus_t product_submit(Product *p, cudaStream_t stream) {
    int slot;
    set_shape(&p->A, p->m, p->k);
    set_shape(&p->B, p->k, p->n);
    set_shape(&p->C, p->m, p->n);
    if (sim_may_submit(stream, p->function, p->place, &slot) != cudaSuccess) {
        return slot < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_EXECUTION_FAILED;
    }
    cublasStatus_t status = check(p, slot);
    if (status == CUBLAS_STATUS_SUCCESS && p->m > 0 && p->n > 0 && p->batch > 0) {
        Work work = {p->function,  p->place,           .run = run,
                     .context = p, .entered = entered, .account = account};
        sim_submit_copy(stream, work, sizeof *p);
    }
    return status;
}
