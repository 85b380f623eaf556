/* Layer normalisation on the CPU, forward and backward. The contract, with its formulas, is in
   layernorm.h; Real is the storage type (float, fp16 or bf16), and all arithmetic is in float. */
#include "kernels/layernorm.h"

#include <math.h>

#include "kernels/real.h"

void CPU(layernorm_forward)(Real *out, float *mean, float *rstd, const Real *in, const Real *weight,
                            const Real *bias, int N, int C) {
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        const Real *x = in + (size_t)row * C;
        Real *y = out + (size_t)row * C;
        float sum = 0, squares = 0;
        /* mean = sum_c in[c] / C */
#pragma omp simd reduction(+ : sum)
        for (int c = 0; c < C; c++) {
            sum += to_float(x[c]);
        }
        float m = sum / (float)C;
        /* variance = sum_c (in[c] - mean)^2 / C, and rstd = 1 / sqrt(variance + epsilon) */
#pragma omp simd reduction(+ : squares)
        for (int c = 0; c < C; c++) {
            float centred = to_float(x[c]) - m;
            squares += centred * centred;
        }
        float r = 1 / sqrtf(squares / (float)C + LAYERNORM_EPSILON);
        /* out[c] = (in[c] - mean) * rstd * weight[c] + bias[c] */
#pragma omp simd
        for (int c = 0; c < C; c++) {
            y[c] = real((to_float(x[c]) - m) * r * to_float(weight[c]) + to_float(bias[c]));
        }
        mean[row] = m;
        rstd[row] = r;
    }
}

/* One row: adds to din, and to the sums over rows that its block keeps for weight and bias. */
static void row_backward(Real *din, float *dweight, float *dbias, const Real *dout, const Real *in,
                         float mean, float rstd, const Real *weight, int C) {
    float sum_g = 0, sum_gx = 0;
    /* with x = (in - mean) * rstd and g = dout * weight: the two sums over c that din needs,
       and dweight[c] += dout[c] * x[c], dbias[c] += dout[c] */
#pragma omp simd reduction(+ : sum_g, sum_gx)
    for (int c = 0; c < C; c++) {
        float x = (to_float(in[c]) - mean) * rstd;
        float g = to_float(dout[c]) * to_float(weight[c]);
        sum_g += g;
        sum_gx += g * x;
        dweight[c] += to_float(dout[c]) * x;
        dbias[c] += to_float(dout[c]);
    }
    float mean_g = sum_g / (float)C, mean_gx = sum_gx / (float)C;
    /* din[c] += rstd * (g[c] - mean_c(g) - x[c] * mean_c(g * x)): the first term goes straight
       through, the second through the mean, the third through the variance */
#pragma omp simd
    for (int c = 0; c < C; c++) {
        float x = (to_float(in[c]) - mean) * rstd;
        float g = to_float(dout[c]) * to_float(weight[c]);
        din[c] = real(to_float(din[c]) + rstd * (g - mean_g - x * mean_gx));
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
