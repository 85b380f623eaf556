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

static inline float slope(float x) {
    float s = gate(x);
    float du = SQRT_2_OVER_PI * (1 + 3 * CUBIC * x * x);
    return s + x * s * (1 - s) * 2 * du;
}

void CPU(gelu_forward)(Real *out, Real *in, const Real *bias, int N, int C) {
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        Real *x = in + (size_t)row * C, *y = out + (size_t)row * C;
        if (bias != NULL) {
#pragma omp simd
            for (int c = 0; c < C; c++) {
                x[c] = real(to_float(x[c]) + to_float(bias[c]));
            }
        }
#pragma omp simd
        for (int c = 0; c < C; c++) {
            y[c] = real(to_float(x[c]) * gate(to_float(x[c])));
        }
    }
}

void CPU(gelu_backward)(Real *din, const Real *dout, const Real *in, int N, int C) {
    uint32_t keep = keep_mask(din == dout);
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        Real *dx = din + (size_t)row * C;
        const Real *dy = dout + (size_t)row * C, *x = in + (size_t)row * C;
#pragma omp simd
        for (int c = 0; c < C; c++) {
            dx[c] = real(kept(dx[c], keep) + to_float(dy[c]) * slope(to_float(x[c])));
        }
    }
}
