#include "cublas_product.h"
#include "cudasim_record.h"
#include "device.h"
#include "operation.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "kernels/blas.h"

/* Tells the simulator which bytes are read or written: not the gaps between columns. */
static void touch(const BlasMatrix *x, int z, bool write) {
    for (int column = 0; column < x->columns; column++) {
        sim_touch(blas_column(x, z, column), x->rows * blas_number_bytes(x->type), write);
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
        const void *from = blas_column(x, z, column);
        for (int row = 0; row < x->rows; row++) {
            factor[(size_t)column * x->rows + row] = blas_number(from, row, x->type);
        }
    }
    return factor;
}

/* The sum so far, as fp16 can hold it. */
static float half_sum(float sum) {
    return cudasim_half_to_float(cudasim_half_from_float(sum));
}

/* The same as multiply(), without a library. Sums in fp16 are rounded after each term: a GPU may
   keep more between two of them, and never keeps less. */
static void multiply_plainly(const Product *p, const float *A, const float *B, float *result) {
    bool in_half = product_sums(p) == CUDA_R_16F;
    bool turn_A = p->A.operation != CUBLAS_OP_N, turn_B = p->B.operation != CUBLAS_OP_N;
    size_t A_row = turn_A ? p->A.rows : 1, A_column = turn_A ? 1 : p->A.rows;
    size_t B_row = turn_B ? p->B.rows : 1, B_column = turn_B ? 1 : p->B.rows;
    for (int column = 0; column < p->n; column++) {
        for (int row = 0; row < p->m; row++) {
            float sum = 0;
            for (int i = 0; i < p->k; i++) {
                sum += A[row * A_row + i * A_column] * B[i * B_row + column * B_column];
                sum = in_half ? half_sum(sum) : sum;
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
    if (sim_ending() || product_sums(p) == CUDA_R_16F) {
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
        BlasMatrix bias = product_bias(p);
        value += blas_number(bias.data, row, bias.type);
    }
    if (kind & AUX) {
        BlasMatrix aux = product_aux(p);
        write_number(blas_column(&aux, z, column), row, aux.type, value);
    }
    return kind & GELU ? gelu(value) : kind & RELU ? fmaxf(value, 0) : value;
}

static void touch_epilogue(const Product *p, int z) {
    BlasMatrix bias = product_bias(p), aux = product_aux(p);
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
        void *to = blas_column(C, z, column);
        for (int row = 0; row < p->m; row++) {
            float value = product != NULL ? alpha * product[(size_t)column * p->m + row] : 0;
            value += beta != 0 ? beta * blas_number(to, row, C->type) : 0;
            write_number(to, row, C->type, finished(p, z, row, column, value));
        }
    }
}

static float read_scalar(const Product *p, const void *scalar, float read_before) {
    if (p->device_scalars) {
        sim_touch(scalar, blas_number_bytes(product_sums(p)), false);
        return blas_number(scalar, 0, product_sums(p));
    }
    return read_before;
}

static void run_one(const Product *p, int z, float alpha, float beta) {
    float *product = p->k > 0 && alpha != 0 ? multiply(p, z) : NULL;
    store(p, z, product, alpha, beta);
    free(product);
}

/* A batch by arrays of pointers is one product after the other. */
static void run_member(const Product *p, int z, float alpha, float beta) {
    Product one = product_member(p, z);
    if (product_check_member(&one)) {
        run_one(&one, 0, alpha, beta);
    }
}

static void run(void *context) {
    const Product *p = context;
    if (sim_settings.dry) {
        return;
    }
    float alpha = read_scalar(p, p->alpha, p->alpha_read);
    float beta = read_scalar(p, p->beta, p->beta_read);
    if (p->C.each != NULL && !product_check_results(p)) {
        return;
    }
    for (int z = 0; z < p->batch; z++) {
        if (p->C.each != NULL) {
            run_member(p, z, alpha, beta);
        } else {
            run_one(p, z, alpha, beta);
        }
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
    return (double)x->rows * x->columns * (double)blas_number_bytes(x->type);
}

/* Each matrix is read or written once; C is read as well where beta is not 0. */
static void account(const void *context, CudasimEntry *entry) {
    const Product *p = context;
    bool adds = p->device_scalars || p->beta_read != 0;
    double factors = product_has_factors(p) ? bytes_of(&p->A) + bytes_of(&p->B) : 0;
    entry->kind = CUDASIM_PRODUCT;
    entry->precision = precision_of(p);
    entry->flops = product_has_factors(p) ? 2.0 * p->m * p->n * p->k * p->batch : 0;
    entry->bytes = p->batch * (factors + (adds ? 2 : 1) * bytes_of(&p->C));
}

static void entered(void *context, const Operation *operation) {
    (void)context;
    sim_event("product %s", operation->what);
}

static void set_shape(BlasMatrix *x, int rows, int columns) {
    bool transposed = x->operation != CUBLAS_OP_N;
    x->rows = transposed ? columns : rows;
    x->columns = transposed ? rows : columns;
}

cublasStatus_t product_submit(Product *p, cudaStream_t stream) {
    int slot;
    set_shape(&p->A, p->m, p->k);
    set_shape(&p->B, p->k, p->n);
    set_shape(&p->C, p->m, p->n);
    if (sim_may_submit(stream, p->function, p->place, &slot) != cudaSuccess) {
        return slot < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_EXECUTION_FAILED;
    }
    p->slot = slot;
    cublasStatus_t status = product_check(p);
    if (status == CUBLAS_STATUS_SUCCESS && p->m > 0 && p->n > 0 && p->batch > 0) {
        Work work = {p->function,  p->place,           .run = run,
                     .context = p, .entered = entered, .account = account};
        sim_submit_copy(stream, work, sizeof *p);
    }
    return status;
}
