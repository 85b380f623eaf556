/* The linear layer on the CPU; the contract is in matmul.h. The output is cut into fixed
   panels, and each panel is one single-threaded product, so bits do not depend on the number
   of threads. Where storage is half, a panel's operands are converted to float in the thread's
   scratch memory. */
#include "kernels/matmul.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/blas.h"
#include "kernels/real.h"
#include "kernels/threads.h"

/* Half storage: sizes of a panel and of a slice of the inner dimension. Larger ones convert each
   number less often, smaller ones stay in the cache; measured in docs/performance.md. */
enum { ROWS = 256, COLS = 512, DEPTH = 512 };
enum { SCRATCH = ROWS * DEPTH + COLS * DEPTH + ROWS * COLS };

/* A factor: element (i, k) is x[i * ld + k], or x[k * ld + i] if stored transposed. */
typedef struct Factor {
    const Real *x;
    int ld;
    bool transposed;
} Factor;

static const Real *factor_at(Factor factor, int i, int k) {
    return factor.transposed ? factor.x + (size_t)k * factor.ld + i
                             : factor.x + (size_t)i * factor.ld + k;
}

/* Rows i to i + size, inner indices k to k + depth, as floats: in place where storage is float,
   else converted into scratch. Sets *ld to the distance of stored rows. */
static const float *factor_floats(Factor factor, int i, int size, int k, int depth, float *scratch,
                                  int *ld) {
    const Real *x = factor_at(factor, i, k);
    if (REAL_IS_FLOAT) {
        *ld = factor.ld;
        return (const float *)x;
    }
    int rows = factor.transposed ? depth : size, cols = factor.transposed ? size : depth;
    for (int row = 0; row < rows; row++) {
        to_floats(scratch + (size_t)row * cols, x + (size_t)row * factor.ld, (size_t)cols);
    }
    *ld = cols;
    return scratch;
}

/* sum (panel.rows, panel.cols) += a b^T, where a has the panel's rows and b its columns. */
static void multiply(float *sum, int sum_ld, Panel panel, int K, Factor a, Factor b,
                     float *scratch) {
    int step = REAL_IS_FLOAT ? K : DEPTH;
    float *b_scratch = REAL_IS_FLOAT ? NULL : scratch + ROWS * DEPTH;
    /* sum += a[:, k ... k + depth] b[:, k ... k + depth]^T, a slice of the inner dimension at a
       time */
    for (int k = 0; k < K; k += step) {
        int depth = K - k < step ? K - k : step, a_ld, b_ld;
        const float *A = factor_floats(a, panel.row, panel.rows, k, depth, scratch, &a_ld);
        const float *B = factor_floats(b, panel.col, panel.cols, k, depth, b_scratch, &b_ld);
        blas_sgemm(a.transposed, !b.transposed, panel.rows, panel.cols, depth, A, a_ld, B, b_ld, 1,
                   sum, sum_ld);
    }
}

static Panels cut(int M, int N) {
    return REAL_IS_FLOAT ? panels_cut(M, N, INT_MAX, INT_MAX) : panels_cut(M, N, ROWS, COLS);
}

static float *scratch_of(const Workspace *workspace) {
    return REAL_IS_FLOAT ? NULL : thread_scratch(workspace, SCRATCH);
}

/* One row of a panel before the product: what is there already, the bias, or 0. */
static void begin_row(float *sum, const Real *to, const Real *bias, bool add, int cols) {
    if (add && REAL_IS_FLOAT) {
        return; /* sum is that row */
    }
    if (add || bias != NULL) {
        to_floats(sum, add ? to : bias, (size_t)cols);
    } else {
        memset(sum, 0, (size_t)cols * sizeof *sum);
    }
}

/* out (M, N) = a b^T + (add ? out : bias or 0), in the storage type; `stride` elements from row to
   row. */
static void product(Real *out, int M, int N, int stride, int K, Factor a, Factor b,
                    const Real *bias, bool add, const Workspace *workspace) {
    Panels panels = cut(M, N);
#pragma omp parallel for schedule(dynamic, 1)
    for (int index = 0; index < panels.count; index++) {
        Panel panel = panels_at(panels, index);
        float *scratch = scratch_of(workspace);
        Real *to = out + (size_t)panel.row * stride + panel.col;
        float *sum = REAL_IS_FLOAT ? (float *)to : scratch + (ROWS + COLS) * DEPTH;
        int ld = REAL_IS_FLOAT ? stride : panel.cols;
        for (int row = 0; row < panel.rows; row++) {
            begin_row(sum + (size_t)row * ld, to + (size_t)row * stride,
                      bias != NULL ? bias + panel.col : NULL, add, panel.cols);
        }
        multiply(sum, ld, panel, K, a, b, scratch);
        for (int row = 0; row < panel.rows && !REAL_IS_FLOAT; row++) {
            reals(to + (size_t)row * stride, sum + (size_t)row * ld, (size_t)panel.cols);
        }
    }
}

void CPU(matmul_forward)(Real *out, const Real *in, const Real *weight, const Real *bias, int N,
                         int C, int OC, int stride, const Workspace *workspace) {
    CHECK(stride == OC || (stride > OC && bias == NULL), "stride = %d, OC = %d", stride, OC);
    /* out[n][o] = sum_c in[n][c] * weight[o][c] + bias[o] */
    product(out, N, OC, stride, C, (Factor){in, C, false}, (Factor){weight, C, false}, bias, false,
            workspace);
}

static void weight_backward(float *dweight, const Real *dout, const Real *in, int N, int C, int OC,
                            int stride, const Workspace *workspace) {
    /* dweight[o][c] += sum_n dout[n][o] * in[n][c] */
    Factor a = {dout, stride, true}, b = {in, C, true};
    Panels panels = cut(OC, C);
#pragma omp parallel for schedule(dynamic, 1)
    for (int index = 0; index < panels.count; index++) {
        Panel panel = panels_at(panels, index);
        multiply(dweight + (size_t)panel.row * C + panel.col, C, panel, N, a, b,
                 scratch_of(workspace));
    }
}

/* Sums of columns: threads share out the columns, so each sum has one order. */
static void bias_backward(float *dbias, const Real *dout, int N, int OC, int stride) {
    enum { CHANNELS = 64 };
#pragma omp parallel for
    for (int first = 0; first < OC; first += CHANNELS) {
        int count = OC - first < CHANNELS ? OC - first : CHANNELS;
        float sum[CHANNELS] = {0};
        /* dbias[o] += sum_n dout[n][o] */
        for (int row = 0; row < N; row++) {
            const Real *from = dout + (size_t)row * stride + first;
#pragma omp simd
            for (int c = 0; c < count; c++) {
                sum[c] += to_float(from[c]);
            }
        }
        for (int c = 0; c < count; c++) {
            dbias[first + c] += sum[c];
        }
    }
}

void CPU(matmul_backward)(Real *din, float *dweight, float *dbias, const Real *dout, const Real *in,
                          const Real *weight, int N, int C, int OC, int stride,
                          const Workspace *workspace) {
    CHECK(stride >= OC, "stride = %d, OC = %d", stride, OC);
    if (din != NULL) {
        /* din[n][c] += sum_o dout[n][o] * weight[o][c] */
        product(din, N, C, C, OC, (Factor){dout, stride, false}, (Factor){weight, C, true}, NULL,
                true, workspace);
    }
    if (dweight != NULL) {
        weight_backward(dweight, dout, in, N, C, OC, stride, workspace);
    }
    if (dbias != NULL) {
        bias_backward(dbias, dout, N, OC, stride);
    }
}

#if !defined REAL_F16 && !defined REAL_BF16
size_t matmul_scratch_cpu(Precision precision) {
    return precision == F32 ? 0 : SCRATCH;
}
#endif
