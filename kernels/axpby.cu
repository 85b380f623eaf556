/* A sum of two tensors, each times a number, on the GPU. The contract is in axpby.h, the C twin is
   axpby.c. */
#include "kernels/axpby.h"

#include "kernels/real.cuh"

/* How threads map to data. A thread takes PACK neighbours of both tensors, 16 bytes in one
   access. */

enum { THREADS = 256 };

static __global__ void axpby_kernel(Real *y, const Real *x, size_t n, float a, float b) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    float sum[PACK] = {0}, added[PACK];
    load_pack(added, x + first, n - first);
    if (b != 0) { /* else y may hold NaN, and 0 times NaN is NaN */
        load_pack(sum, y + first, n - first);
    }
    /* y[i] = a * x[i] + b * y[i] */
    for (int i = 0; i < PACK; i++) {
        sum[i] = a * added[i] + b * sum[i];
    }
    store_pack(y + first, sum, n - first);
}

extern "C" void GPU(axpby)(Real *y, const Real *x, size_t n, float a, float b) {
    if (n > 0) {
        axpby_kernel<<<blocks_for(n, THREADS * PACK), THREADS>>>(y, x, n, a, b);
        LAUNCHED("axpby");
    }
}
