/* The linear layer on the CPU; the contract is in matmul.h. The output is cut into fixed
   panels, and each panel is one single-threaded product, so bits do not depend on the number
   of threads. Where storage is half, a panel's operands are converted to float in the thread's
   scratch memory; where it is float, those that a product would read slowly are copied. */
#include "kernels/matmul.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/blas.h"
#include "kernels/real.h"
#include "kernels/threads.h"
#include "kernels/transpose.h"

/* The slice of the inner dimension that is copied at a time, and the largest panel whose factors
   are copied. In half every panel is one: larger ones convert each number less often, smaller ones
   stay in the cache. A larger panel of floats is left to the library, which packs it by itself, and
   a narrow matrix lies in the cache. TALL is the fewest rows of a panel for which the weight of a
   forward product is transposed; SLICE, the slice of the inner dimension where the factors of a
   weight's gradient are read in place. Measured in docs/performance.md. */
#if defined REAL_F16 || defined REAL_BF16
enum { DEPTH = 512, ROWS = 256, COLS = 512, SUMS = ROWS * COLS };
#else
enum { DEPTH = 128, ROWS = 768, COLS = 768, SUMS = 0 };
#endif
enum { NARROW = 128, TALL = 64, SLICE = 256 };

/* Sides of the largest panel whose factors are copied, in a product with a (C, OC) matrix of
   weights or their gradient. By its narrower side, which is at most the channels of the model. */
typedef struct CopiedSides {
    int rows, cols;
} CopiedSides;

static CopiedSides copied_sides(int C, int OC) {
    int narrow = C < OC ? C : OC, side = narrow < ROWS / 4 ? 4 * narrow : ROWS;
    if (!REAL_IS_FLOAT) {
        return (CopiedSides){ROWS, COLS};
    }
    return narrow < NARROW ? (CopiedSides){0, 0} : (CopiedSides){side, side};
}

/* Floats of a copy of rows, whichever way they are stored: blas_ld() adds less than MORE. */
static size_t copy_floats(int rows) {
    enum { MORE = 32 };
    return rows > 0 ? (size_t)(rows + MORE) * (DEPTH + MORE) : 0;
}

static size_t scratch_floats(CopiedSides sides) {
    return copy_floats(sides.rows) + copy_floats(sides.cols) + SUMS;
}

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

/* Whether rows of that many floats put a column into at most `few` of the 64 sets of a first-level
   cache: blas_ld(). */
static bool in_sets(int ld, int few) {
    enum { ALL = 64 * 64 / sizeof(float) };
    return ld % (ALL / few) == 0;
}

/* How a slice of a factor lies when the product reads it: the last two are copies. */
typedef enum Reading { IN_PLACE, AS_STORED, TRANSPOSED } Reading;

/* A slice of a factor, as floats. */
typedef struct FloatFactor {
    const float *x;
    int ld;
    bool transposed;
} FloatFactor;

/* Rows i to i + size, inner indices k to k + depth: in place, or in scratch. */
static FloatFactor factor_floats(Factor factor, int i, int size, int k, int depth, Reading reading,
                                 float *scratch) {
    const Real *x = factor_at(factor, i, k);
    int rows = factor.transposed ? depth : size, cols = factor.transposed ? size : depth;
    if (reading == IN_PLACE) {
        return (FloatFactor){(const float *)x, factor.ld, factor.transposed};
    }
    if (reading == TRANSPOSED) {
        int ld = blas_ld(rows);
        transposed_floats(scratch, ld, x, factor.ld, rows, cols);
        return (FloatFactor){scratch, ld, !factor.transposed};
    }
    int ld = blas_ld(cols);
    rows_to_floats(scratch, ld, x, factor.ld, rows, cols);
    return (FloatFactor){scratch, ld, factor.transposed};
}

/* Floats are copied where the inner index runs from row to row and is slow to follow: in at most
   `few` sets. */
static Reading reading_of(Factor factor, bool small, int few) {
    bool slow = small && factor.transposed && in_sets(factor.ld, few);
    return !REAL_IS_FLOAT || slow ? AS_STORED : IN_PLACE;
}

/* sum (panel.rows, panel.cols) = a b^T + beta sum, where a has the panel's rows and b its columns;
   beta is 0 or 1. */
static void multiply(float *sum, int sum_ld, float beta, Panel panel, int K, Factor a, Factor b,
                     CopiedSides sides, float *scratch) {
    bool small = panel.rows <= sides.rows && panel.cols <= sides.cols;
    float *b_scratch = scratch + copy_floats(sides.rows);
    /* The copy of a weight pays sooner than those of a weight's gradient, which are read once or
       twice; and many rows pay for turning a weight so that the product reads along its columns. */
    int few = a.transposed ? 1 : 2;
    bool turn = small && !b.transposed && panel.rows >= TALL;
    Reading a_reading = reading_of(a, small, few),
            b_reading = turn ? TRANSPOSED : reading_of(b, small, few);
    bool in_place = a_reading == IN_PLACE && b_reading == IN_PLACE;
    int step = !in_place ? DEPTH : small && a.transposed ? SLICE : K;
    /* sum += a[:, k ... k + depth] b[:, k ... k + depth]^T, a slice of the inner dimension at a
       time: in a weight's gradient it runs from row to row in both factors, and a cache line that
       one product needs only a part of is still there for its neighbour */
    for (int k = 0; k < K; k += step) {
        int depth = K - k < step ? K - k : step;
        FloatFactor A = factor_floats(a, panel.row, panel.rows, k, depth, a_reading, scratch);
        FloatFactor B = factor_floats(b, panel.col, panel.cols, k, depth, b_reading, b_scratch);
        blas_sgemm(A.transposed, !B.transposed, panel.rows, panel.cols, depth, A.x, A.ld, B.x, B.ld,
                   k > 0 ? 1 : beta, sum, sum_ld);
    }
}

static Panels cut(int M, int N) {
    return REAL_IS_FLOAT ? panels_cut(M, N, INT_MAX, INT_MAX) : panels_cut(M, N, ROWS, COLS);
}

/* One row of a panel after the product: to = sum + addend, in the storage type. After it, not
   before: the product waits for the memory of its output while it computes, a loop that only
   writes just waits. */
static void end_row(Real *to, float *sum, const Real *addend, int cols) {
    FloatsRun run;
    for (int first = 0; addend != NULL && first < cols; first += FLOATS_RUN) {
        int n = floats_count(cols, first);
        const float *x = floats(addend + first, n, run);
#pragma omp simd
        for (int c = 0; c < n; c++) {
            sum[first + c] += x[c];
        }
    }
    if (!REAL_IS_FLOAT) {
        reals(to, sum, (size_t)cols);
    }
}

/* out (M, N) = a b^T + (add ? out : bias or 0), in the storage type; `stride` elements from row to
   row. */
static void product(Real *out, int M, int N, int stride, int K, Factor a, Factor b,
                    const Real *bias, bool add, const Workspace *workspace) {
    Panels panels = cut(M, N);
    CopiedSides sides = copied_sides(K, N);
#pragma omp parallel for schedule(dynamic, 1)
    for (int index = 0; index < panels.count; index++) {
        Panel panel = panels_at(panels, index);
        float *scratch = thread_scratch(workspace, scratch_floats(sides));
        Real *to = out + (size_t)panel.row * stride + panel.col;
        float *sum = REAL_IS_FLOAT ? (float *)to : scratch + scratch_floats(sides) - SUMS;
        int ld = REAL_IS_FLOAT ? stride : panel.cols;
        multiply(sum, ld, add && REAL_IS_FLOAT, panel, K, a, b, sides, scratch);
        for (int row = 0; row < panel.rows; row++) {
            Real *out_row = to + (size_t)row * stride;
            prefetch_row(to, stride, row, panel.rows, panel.cols, true);
            const Real *already = add && !REAL_IS_FLOAT ? out_row : NULL;
            end_row(out_row, sum + (size_t)row * ld, bias != NULL ? bias + panel.col : already,
                    panel.cols);
        }
    }
}

void CPU(matmul_forward)(Real *out, const Real *in, const Real *weight, const Real *bias, int N,
                         int C, int OC, int stride, const Workspace *workspace) {
    CHECK(stride == OC || (stride > OC && bias == NULL), "stride = %d, OC = %d", stride, OC);
    CHECK(C > 0, "C = %d", C);
    /* out[n][o] = sum_c in[n][c] * weight[o][c] + bias[o] */
    product(out, N, OC, stride, C, (Factor){in, C, false}, (Factor){weight, C, false}, bias, false,
            workspace);
}

static void weight_backward(float *dweight, const Real *dout, const Real *in, int N, int C, int OC,
                            int stride, const Workspace *workspace) {
    /* dweight[o][c] += sum_n dout[n][o] * in[n][c] */
    Factor a = {dout, stride, true}, b = {in, C, true};
    Panels panels = cut(OC, C);
    CopiedSides sides = copied_sides(C, OC);
#pragma omp parallel for schedule(dynamic, 1)
    for (int index = 0; index < panels.count; index++) {
        Panel panel = panels_at(panels, index);
        multiply(dweight + (size_t)panel.row * C + panel.col, C, 1, panel, N, a, b, sides,
                 thread_scratch(workspace, scratch_floats(sides)));
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
            FloatsRun run;
            const float *dy = floats(dout + (size_t)row * stride + first, count, run);
#pragma omp simd
            for (int c = 0; c < count; c++) {
                sum[c] += dy[c];
            }
        }
        for (int c = 0; c < count; c++) {
            dbias[first + c] += sum[c];
        }
    }
}

/* din[n][c] = sum_o dout[n][o] * weight[o][c] + (add ? din[n][c] : 0) */
static void input_backward(Real *din, const Real *dout, const Real *weight, int N, int C, int OC,
                           int stride, bool add, const Workspace *workspace) {
    product(din, N, C, C, OC, (Factor){dout, stride, false}, (Factor){weight, C, true}, NULL, add,
            workspace);
}

void CPU(matmul_backward)(Real *din, float *dweight, float *dbias, const Real *dout, const Real *in,
                          const Real *weight, int N, int C, int OC, int stride,
                          const Workspace *workspace) {
    CHECK(stride >= OC, "stride = %d, OC = %d", stride, OC);
    if (din != NULL) {
        input_backward(din, dout, weight, N, C, OC, stride, true, workspace);
    }
    if (dweight != NULL) {
        weight_backward(dweight, dout, in, N, C, OC, stride, workspace);
    }
    if (dbias != NULL) {
        bias_backward(dbias, dout, N, OC, stride);
    }
}

void CPU(matmul_backward_first)(Real *din, float *dweight, float *dbias, const Real *dout,
                                const Real *in, const Real *weight, int N, int C, int OC,
                                int stride, const Workspace *workspace) {
    CHECK(stride >= OC && OC > 0, "stride = %d, OC = %d", stride, OC);
    if (din != NULL) {
        input_backward(din, dout, weight, N, C, OC, stride, false, workspace);
    }
    CPU(matmul_backward)(NULL, dweight, dbias, dout, in, weight, N, C, OC, stride, workspace);
}

size_t CPU(matmul_scratch)(int C) {
    return scratch_floats(copied_sides(C, C));
}
