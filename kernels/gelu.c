/* GELU on the CPU, tanh form, together with the bias before it. The contract is in gelu.h; rows are
   handled in runs, since half-precision numbers convert much faster in runs than one by one. */
#include "kernels/gelu.h"

#include "kernels/real.h"
#include "kernels/vectormath.h"

#define SQRT_2_OVER_PI 0.7978845608f
#define CUBIC 0.044715f

/* 1 / (1 + exp(-2u)), the factor of x; one exp where the tanh form needs a tanh. */
static inline float gate(float x) {
    float u = SQRT_2_OVER_PI * (x + CUBIC * x * x * x);
    return 1 / (1 + expf(-2 * u));
}

/* gelu'(x) = s + x * s * (1 - s) * 2u'(x), where s = gate(x) */
static inline float slope(float x) {
    float s = gate(x);
    float du = SQRT_2_OVER_PI * (1 + 3 * CUBIC * x * x);
    return s + x * s * (1 - s) * 2 * du;
}

void CPU(gelu_forward)(Real *out, Real *in, const Real *bias, int N, int C) {
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        for (int first = 0; first < C; first += FLOATS_RUN) {
            FloatsRun in_run, bias_run, out_run;
            int n = floats_count(C, first);
            size_t at = (size_t)row * C + first;
            const float *x = floats(in + at, n, in_run);
            if (bias != NULL) {
                const float *b = floats(bias + first, n, bias_run);
                float *sum = floats_for(in + at, in_run);
                /* in[c] += bias[c] */
#pragma omp simd
                for (int c = 0; c < n; c++) {
                    sum[c] = x[c] + b[c];
                }
                reals(in + at, sum, (size_t)n);
                x = floats(in + at, n, in_run); /* what backward will see: the rounded sum */
            }
            float *y = floats_for(out + at, out_run);
            /* out[c] = x * gate(x) */
#pragma omp simd
            for (int c = 0; c < n; c++) {
                y[c] = x[c] * gate(x[c]);
            }
            reals(out + at, y, (size_t)n);
        }
    }
}

void CPU(gelu_backward)(Real *din, const Real *dout, const Real *in, int N, int C) {
    uint32_t keep = keep_mask(din == dout);
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        for (int first = 0; first < C; first += FLOATS_RUN) {
            FloatsRun in_run, dout_run, din_run;
            int n = floats_count(C, first);
            size_t at = (size_t)row * C + first;
            const float *x = floats(in + at, n, in_run), *dy = floats(dout + at, n, dout_run),
                        *already = floats(din + at, n, din_run);
            float *dx = floats_for(din + at, din_run);
            /* din[c] += dout[c] * gelu'(in[c]); in place there is nothing to add to */
#pragma omp simd
            for (int c = 0; c < n; c++) {
                dx[c] = kept(already[c], keep) + dy[c] * slope(x[c]);
            }
            reals(din + at, dx, (size_t)n);
        }
    }
}
