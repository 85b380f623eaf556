/* Dropout on the GPU: each thread draws the mask of the elements that it handles. The contract is
   in dropout.h, the C twin is dropout.c. */
#include "kernels/dropout.h"

#include "kernels/dropout_mask.cuh"

/* How threads map to data. A thread takes PACK neighbours, 16 bytes in one access. A random counter
   serves four elements and PACK is 4 or 8, so no two threads draw the same one. */

enum { THREADS = 256 };

/* to = from under the mask, on top of what `to` holds if `add`. */
static __global__ void dropout_kernel(Real *to, const Real *from, size_t n, Mask mask, bool add) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    float x[PACK], sum[PACK] = {0};
    load_pack(x, from + first, n - first);
    if (add) {
        load_pack(sum, to + first, n - first);
    }
    /* to[i] = (add ? to[i] : 0) + (word_i < threshold ? 0 : from[i] / (1 - p)) */
    add_masked(sum, x, first, mask);
    store_pack(to + first, sum, n - first);
}

extern "C" void GPU(dropout_forward)(Real *out, const Real *in, size_t n, Dropout dropout) {
    if (n > 0) {
        dropout_kernel<<<blocks_for(n, THREADS * PACK), THREADS>>>(out, in, n, mask_of(dropout),
                                                                   false);
        LAUNCHED("dropout_forward");
    }
}

extern "C" void GPU(dropout_backward)(Real *din, const Real *dout, size_t n, Dropout dropout) {
    if (n > 0) {
        dropout_kernel<<<blocks_for(n, THREADS * PACK), THREADS>>>(din, dout, n, mask_of(dropout),
                                                                   din != dout);
        LAUNCHED("dropout_backward");
    }
}
