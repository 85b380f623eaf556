/* Layer normalisation on the CPU, forward and backward. The contract, with its formulas, is in
   layernorm.h; Real is the storage type (float, fp16 or bf16), and all arithmetic is in float. */
#include "kernels/layernorm.h"

#include <math.h>

#include "kernels/real.h"

/* sum_c in[c] of a row */
static float row_sum(const Real *in, int C) {
    FloatsRun run;
    float sum = 0;
    for (int first = 0; first < C; first += FLOATS_RUN) {
        int n = floats_count(C, first);
        const float *x = floats(in + first, n, run);
#pragma omp simd reduction(+ : sum)
        for (int c = 0; c < n; c++) {
            sum += x[c];
        }
    }
    return sum;
}

/* sum_c (in[c] - mean)^2 of a row */
static float row_squares(const Real *in, float mean, int C) {
    FloatsRun run;
    float squares = 0;
    for (int first = 0; first < C; first += FLOATS_RUN) {
        int n = floats_count(C, first);
        const float *x = floats(in + first, n, run);
#pragma omp simd reduction(+ : squares)
        for (int c = 0; c < n; c++) {
            float centred = x[c] - mean;
            squares += centred * centred;
        }
    }
    return squares;
}

/* out[c] = (in[c] - mean) * rstd * weight[c] + bias[c] of a row */
static void row_forward(Real *out, const Real *in, float mean, float rstd, const Real *weight,
                        const Real *bias, int C) {
    FloatsRun in_run, weight_run, bias_run;
    for (int first = 0; first < C; first += FLOATS_RUN) {
        int n = floats_count(C, first);
        const float *x = floats(in + first, n, in_run), *w = floats(weight + first, n, weight_run),
                    *b = floats(bias + first, n, bias_run);
        float *y = floats_for(out + first, in_run);
#pragma omp simd
        for (int c = 0; c < n; c++) {
            y[c] = (x[c] - mean) * rstd * w[c] + b[c];
        }
        reals(out + first, y, (size_t)n);
    }
}

void CPU(layernorm_forward)(Real *out, float *mean, float *rstd, const Real *in, const Real *weight,
                            const Real *bias, int N, int C) {
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        const Real *x = in + (size_t)row * C;
        /* mean = sum_c in[c] / C */
        float m = row_sum(x, C) / (float)C;
        /* variance = sum_c (in[c] - mean)^2 / C, and rstd = 1 / sqrt(variance + epsilon) */
        float r = 1 / sqrtf(row_squares(x, m, C) / (float)C + LAYERNORM_EPSILON);
        row_forward(out + (size_t)row * C, x, m, r, weight, bias, C);
        mean[row] = m;
        rstd[row] = r;
    }
}

/* One row: adds to din, and to the sums over rows that its block keeps for weight and bias. */
static void row_backward(Real *din, float *dweight, float *dbias, const Real *dout, const Real *in,
                         float mean, float rstd, const Real *weight, int C) {
    FloatsRun in_run, dout_run, weight_run, din_run;
    float sum_g = 0, sum_gx = 0;
    /* with x = (in - mean) * rstd and g = dout * weight: the two sums over c that din needs,
       and dweight[c] += dout[c] * x[c], dbias[c] += dout[c] */
    for (int first = 0; first < C; first += FLOATS_RUN) {
        int n = floats_count(C, first);
        const float *inputs = floats(in + first, n, in_run),
                    *dy = floats(dout + first, n, dout_run),
                    *w = floats(weight + first, n, weight_run);
#pragma omp simd reduction(+ : sum_g, sum_gx)
        for (int c = 0; c < n; c++) {
            float x = (inputs[c] - mean) * rstd;
            float g = dy[c] * w[c];
            sum_g += g;
            sum_gx += g * x;
            dweight[first + c] += dy[c] * x;
            dbias[first + c] += dy[c];
        }
    }
    float mean_g = sum_g / (float)C, mean_gx = sum_gx / (float)C;
    /* din[c] += rstd * (g[c] - mean_c(g) - x[c] * mean_c(g * x)): the first term goes straight
       through, the second through the mean, the third through the variance */
    for (int first = 0; first < C; first += FLOATS_RUN) {
        int n = floats_count(C, first);
        const float *inputs = floats(in + first, n, in_run),
                    *dy = floats(dout + first, n, dout_run),
                    *w = floats(weight + first, n, weight_run),
                    *already = floats(din + first, n, din_run);
        float *dx = floats_for(din + first, din_run);
#pragma omp simd
        for (int c = 0; c < n; c++) {
            float x = (inputs[c] - mean) * rstd;
            float g = dy[c] * w[c];
            dx[c] = already[c] + rstd * (g - mean_g - x * mean_gx);
        }
        reals(din + first, dx, (size_t)n);
    }
}

void CPU(layernorm_backward)(Real *din, float *dweight, float *dbias, const Real *dout,
                             const Real *in, const float *mean, const float *rstd,
                             const Real *weight, int N, int C, const Workspace *workspace) {
    size_t partial_floats = 2 * (size_t)C;
    CHECK(workspace->bytes >= LAYERNORM_BLOCKS * partial_floats * sizeof(float),
          "workspace of %zu bytes, C = %d", workspace->bytes, C);
    float *partial = workspace->data;
    int block_rows = (N + LAYERNORM_BLOCKS - 1) / LAYERNORM_BLOCKS;

    /* dweight and dbias are sums over all rows. Each block of rows has partial sums of its own, so
       that threads never add to the same number; which rows a block has depends on N alone, so bits
       do too. */
#pragma omp parallel for
    for (int block = 0; block < LAYERNORM_BLOCKS; block++) {
        float *block_dweight = partial + block * partial_floats, *block_dbias = block_dweight + C;
        for (int c = 0; c < C; c++) {
            block_dweight[c] = block_dbias[c] = 0;
        }
        int end = (block + 1) * block_rows < N ? (block + 1) * block_rows : N;
        for (int row = block * block_rows; row < end; row++) {
            size_t at = (size_t)row * C;
            row_backward(din + at, block_dweight, block_dbias, dout + at, in + at, mean[row],
                         rstd[row], weight, C);
        }
    }
    /* the partial sums, always in the same order */
    for (int block = 0; block < LAYERNORM_BLOCKS; block++) {
        const float *block_dweight = partial + block * partial_floats;
        const float *block_dbias = block_dweight + C;
#pragma omp simd
        for (int c = 0; c < C; c++) {
            dweight[c] += block_dweight[c];
            dbias[c] += block_dbias[c];
        }
    }
}
