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

/* A factor is copied a slice at a time: DEPTH numbers of the inner dimension, of at most ROWS or
   COLS that a panel has. Halves are always copied, so none of their panels is larger, and their
   sums take SUMS floats more. A matrix of floats that is narrower than NARROW lies in the cache,
   and nothing of it is copied. The forward pass turns a weight whose panels have TALL rows or more,
   at most TALLEST; they are half as wide, and slices twice as deep. A weight's gradient turns dout
   for panels that are WIDE. All of these were measured: docs/performance.md. */
#if defined REAL_F16 || defined REAL_BF16
enum { DEPTH = 256, ROWS = 384, COLS = 384, SUMS = ROWS * COLS, NARROW = 0 };
#else
enum { DEPTH = 128, ROWS = 768, COLS = 768, SUMS = 0, NARROW = 128 };
#endif
enum { TALL = 64, TALLEST = 1024, WIDE = 384 };

/* The narrower side of a (C, OC) matrix of weights: at most the channels of the model. */
static int narrower(int C, int OC) {
    return C < OC ? C : OC;
}

/* The largest sides of which a product with such a matrix copies a factor. */
typedef struct CopiedSides {
    int rows, cols;
} CopiedSides;

static CopiedSides copied_sides(int narrow) {
    int side = narrow < ROWS / 4 ? 4 * narrow : ROWS;
    if (!REAL_IS_FLOAT) {
        return (CopiedSides){ROWS, COLS};
    }
    return narrow < NARROW ? (CopiedSides){0, 0} : (CopiedSides){side, side};
}

/* Floats of a copy of rows, whichever way they are stored: blas_ld() adds less than MORE. */
static size_t copy_floats(int rows, int depth) {
    enum { MORE = 32 };
    return rows > 0 ? (size_t)(rows + MORE) * (size_t)(depth + MORE) : 0;
}

static size_t scratch_floats(int narrow) {
    CopiedSides sides = copied_sides(narrow);
    return copy_floats(sides.rows, DEPTH) + copy_floats(sides.cols, DEPTH) + SUMS;
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

/* Floats that the inner index walks through from row to row are copied where that is slow: in at
   most `few` sets. */
static Reading unturned(Factor factor, int few) {
    return in_sets(factor.ld, few) ? AS_STORED : IN_PLACE;
}

/* How a product is computed: its panels, how they read their factors, and how much of the inner
   dimension at a time. */
typedef struct Scheme {
    Panels panels;
    Reading a, b;
    int depth;
    size_t a_floats; /* of scratch for the copy of a; that of b is next to it */
} Scheme;

/* Every number becomes a float. A weight is turned on the way, if enough rows pay for it. */
static Scheme scheme_of_halves(int M, int N, Factor b) {
    Panels panels = panels_cut(M, N, ROWS, COLS, false);
    bool turn = !b.transposed && panels.rows >= TALL;
    return (Scheme){panels, AS_STORED, turn ? TRANSPOSED : AS_STORED, DEPTH,
                    copy_floats(ROWS, DEPTH)};
}

/* A product is fastest where a lies along the inner dimension and b across it. So what lies
   otherwise is turned, if it is worth a copy: the gradient of the output, of which a weight's
   gradient sums columns, and the weight of the forward pass, whose panels are as tall as can be so
   that few of them turn the same part of it. What is not turned is copied only where it is slow to
   follow from row to row. */
static Scheme scheme_of_floats(int M, int N, int K, Factor a, Factor b, CopiedSides sides) {
    Panels whole = panels_cut(M, N, INT_MAX, INT_MAX, false);
    size_t a_floats = copy_floats(sides.rows, DEPTH);
    if (sides.rows > 0 && a.transposed) {
        Panels panels = panels_cut(M, N, sides.rows, sides.cols, false);
        Reading a_reading = panels.cols >= WIDE ? TRANSPOSED : unturned(a, 1),
                b_reading = unturned(b, 1);
        /* in place, too, by slices: a cache line that one product needs only a part of is still
           there for the next one */
        bool in_place = a_reading == IN_PLACE && b_reading == IN_PLACE;
        return (Scheme){panels, a_reading, b_reading, in_place ? 2 * DEPTH : DEPTH, a_floats};
    }
    if (sides.rows > 0 && !b.transposed) {
        Panels panels = panels_cut(M, N, TALLEST, COLS / 2, true);
        if (panels.rows >= TALL) { /* a is not copied: all of the scratch memory is for b */
            CHECK(copy_floats(panels.cols, 2 * DEPTH) <= 2 * a_floats, "panels of %d columns",
                  panels.cols);
            return (Scheme){panels, IN_PLACE, TRANSPOSED, 2 * DEPTH, 0};
        }
    }
    bool small = whole.rows <= sides.rows && whole.cols <= sides.cols;
    Reading b_reading = small && b.transposed ? unturned(b, 2) : IN_PLACE;
    return (Scheme){whole, IN_PLACE, b_reading, b_reading == IN_PLACE ? K : DEPTH, 0};
}

/* For a product of (M, K) with (K, N), one of which, or the output, is a matrix of weights. */
static Scheme scheme_of(int M, int N, int K, Factor a, Factor b, int narrow) {
    return REAL_IS_FLOAT ? scheme_of_floats(M, N, K, a, b, copied_sides(narrow))
                         : scheme_of_halves(M, N, b);
}

/* sum (panel.rows, panel.cols) = a b^T + beta sum, where a has the panel's rows and b its columns;
   beta is 0 or 1. */
static void multiply(float *sum, int sum_ld, float beta, Panel panel, int K, Factor a, Factor b,
                     Scheme scheme, float *scratch) {
    /* sum += a[:, k ... k + depth] b[:, k ... k + depth]^T, a slice of the inner dimension at a
       time */
    for (int k = 0; k < K; k += scheme.depth) {
        int depth = K - k < scheme.depth ? K - k : scheme.depth;
        FloatFactor A = factor_floats(a, panel.row, panel.rows, k, depth, scheme.a, scratch);
        FloatFactor B =
            factor_floats(b, panel.col, panel.cols, k, depth, scheme.b, scratch + scheme.a_floats);
        blas_sgemm(A.transposed, !B.transposed, panel.rows, panel.cols, depth, A.x, A.ld, B.x, B.ld,
                   k > 0 ? 1 : beta, sum, sum_ld);
    }
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
    int narrow = narrower(K, N);
    Scheme scheme = scheme_of(M, N, K, a, b, narrow);
#pragma omp parallel for schedule(dynamic, 1)
    for (int index = 0; index < scheme.panels.count; index++) {
        Panel panel = panels_at(scheme.panels, index);
        float *scratch = thread_scratch(workspace, scratch_floats(narrow));
        Real *to = out + (size_t)panel.row * stride + panel.col;
        float *sum = REAL_IS_FLOAT ? (float *)to : scratch + scratch_floats(narrow) - SUMS;
        int ld = REAL_IS_FLOAT ? stride : panel.cols;
        multiply(sum, ld, add && REAL_IS_FLOAT, panel, K, a, b, scheme, scratch);
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
    int narrow = narrower(C, OC);
    Scheme scheme = scheme_of(OC, C, N, a, b, narrow);
#pragma omp parallel for schedule(dynamic, 1)
    for (int index = 0; index < scheme.panels.count; index++) {
        Panel panel = panels_at(scheme.panels, index);
        multiply(dweight + (size_t)panel.row * C + panel.col, C, 1, panel, N, a, b, scheme,
                 thread_scratch(workspace, scratch_floats(narrow)));
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
    return scratch_floats(C);
}
