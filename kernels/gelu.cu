/* GELU on the GPU, tanh form, together with the bias before it. The contract is in gelu.h, the C
   twin is gelu.c. */
#include "kernels/gelu.h"

#include "kernels/real.cuh"

/* How threads map to data. The tensor is one row of N * C numbers, and a thread takes PACK of them,
   16 bytes in one access: a warp moves 512 bytes in a row. */

enum { THREADS = 256 };

/* 1 / (1 + exp(-2u)) with u = sqrt(2/pi) * (x + 0.044715 x^3), the factor of x. In half the fast
   functions of the device do: they err by some 2^-21 of the result, which is then rounded to 2^-11
   or 2^-8, and a full division and exponential for each number would outlast its bytes. */
static __device__ inline float gate(float x) {
    float u = 0.7978845608f * (x + 0.044715f * x * x * x);
    return sizeof(Real) == sizeof(float) ? 1 / (1 + expf(-2 * u))
                                         : __fdividef(1, 1 + __expf(-2 * u));
}

/* gelu'(x) = s + x * s * (1 - s) * 2u'(x), where s = gate(x). */
static __device__ inline float slope(float x) {
    float s = gate(x);
    float du = 0.7978845608f * (1 + 3 * 0.044715f * x * x);
    return s + x * s * (1 - s) * 2 * du;
}

/* The bias of PACK neighbours from element `first` on. Only where C is a multiple of PACK do they
   lie in one row, and at a multiple of 16 bytes. */
static __device__ inline void load_bias(float b[PACK], const Real *bias, size_t first, int C) {
    if (C % PACK == 0) {
        load_pack(b, bias + first % C, PACK);
        return;
    }
    for (int i = 0; i < PACK; i++) {
        b[i] = to_float(bias[(first + i) % C]);
    }
}

static __global__ void gelu_forward_kernel(Real *out, Real *in, const Real *bias, size_t n, int C) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    float x[PACK];
    load_pack(x, in + first, n - first);
    /* in[c] += bias[c] */
    if (bias != NULL) {
        float b[PACK];
        load_bias(b, bias, first, C);
        for (int i = 0; i < PACK; i++) {
            /* Rounded, since backward will see what is stored. */
            x[i] = to_float(real(x[i] + b[i]));
        }
        store_pack(in + first, x, n - first);
    }
    /* out[c] = x * gate(x) */
    for (int i = 0; i < PACK; i++) {
        x[i] *= gate(x[i]);
    }
    store_pack(out + first, x, n - first);
}

static __global__ void gelu_backward_kernel(Real *din, const Real *dout, const Real *in, size_t n) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    float x[PACK], dy[PACK], dx[PACK] = {0};
    load_pack(x, in + first, n - first);
    load_pack(dy, dout + first, n - first);
    if (din != dout) {
        load_pack(dx, din + first, n - first);
    }
    /* din[c] += dout[c] * gelu'(in[c]); in place there is nothing to add to */
    for (int i = 0; i < PACK; i++) {
        dx[i] += dy[i] * slope(x[i]);
    }
    store_pack(din + first, dx, n - first);
}

extern "C" void GPU(gelu_forward)(Real *out, Real *in, const Real *bias, int N, int C) {
    size_t n = (size_t)N * C;
    if (n > 0) {
        gelu_forward_kernel<<<blocks_for(n, THREADS * PACK), THREADS>>>(out, in, bias, n, C);
        LAUNCHED("gelu_forward");
    }
}

extern "C" void GPU(gelu_backward)(Real *din, const Real *dout, const Real *in, int N, int C) {
    size_t n = (size_t)N * C;
    if (n > 0) {
        gelu_backward_kernel<<<blocks_for(n, THREADS * PACK), THREADS>>>(din, dout, in, n);
        LAUNCHED("gelu_backward");
    }
}
