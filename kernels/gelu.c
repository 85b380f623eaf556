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

/* Numbers that are taken to float together, and back: in half a run converts much faster. */
enum { RUN = 256 };

static int run_length(int C, int first) {
    return C - first < RUN ? C - first : RUN;
}

void CPU(gelu_forward)(Real *out, Real *in, const Real *bias, int N, int C) {
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        for (int first = 0; first < C; first += RUN) {
            float x[RUN], b[RUN];
            int n = run_length(C, first);
            size_t at = (size_t)row * C + first;
            to_floats(x, in + at, (size_t)n);
            if (bias != NULL) {
                to_floats(b, bias + first, (size_t)n);
                /* in[c] += bias[c] */
#pragma omp simd
                for (int c = 0; c < n; c++) {
                    x[c] += b[c];
                }
                reals(in + at, x, (size_t)n);
                to_floats(x, in + at, (size_t)n); /* what backward will see: the rounded sum */
            }
            /* out[c] = x * gate(x) */
#pragma omp simd
            for (int c = 0; c < n; c++) {
                x[c] *= gate(x[c]);
            }
            reals(out + at, x, (size_t)n);
        }
    }
}

void CPU(gelu_backward)(Real *din, const Real *dout, const Real *in, int N, int C) {
    uint32_t keep = keep_mask(din == dout);
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        for (int first = 0; first < C; first += RUN) {
            float x[RUN], dy[RUN], dx[RUN];
            int n = run_length(C, first);
            size_t at = (size_t)row * C + first;
            to_floats(x, in + at, (size_t)n);
            to_floats(dy, dout + at, (size_t)n);
            to_floats(dx, din + at, (size_t)n);
            /* din[c] += dout[c] * gelu'(in[c]); in place there is nothing to add to */
#pragma omp simd
            for (int c = 0; c < n; c++) {
                dx[c] = kept(dx[c], keep) + dy[c] * slope(x[c]);
            }
            reals(din + at, dx, (size_t)n);
        }
    }
}
