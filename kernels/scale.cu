/* A float tensor times a number, on the GPU. */
#include "kernels/scale.h"

#include "kernels/real.cuh"

/* How threads map to data. The tensor is a row of n numbers, and a thread takes PACK neighbours, 16
   bytes in one access. Compiled once, without a precision: Real is a float. */

enum { THREADS = 256 };

static __global__ void scale(Real *x, size_t n, float factor) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    float y[PACK];
    load_pack(y, x + first, n - first);
    for (int i = 0; i < PACK; i++) {
        y[i] *= factor;
    }
    store_pack(x + first, y, n - first);
}

extern "C" void scale_gpu(float *x, size_t n, float factor) {
    if (n > 0) {
        scale<<<blocks_for(n, THREADS * PACK), THREADS>>>((Real *)x, n, factor);
        LAUNCHED("scale");
    }
}
