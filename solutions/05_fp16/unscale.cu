/* Lab 05: takes the loss scale back from a gradient, on the GPU. The contract is in
   kernels/unscale.h. */
#include "kernels/unscale.h"

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. As in kernels/scale.cu: a thread takes PACK neighbours, 16 bytes in one
   access. A block whose threads have seen inf or NaN says so with one store. Several blocks may
   store the same 1: that is not a race, and needs no atomic. Compiled once, without a precision:
   Real holds a float. */

enum { THREADS = 256 };

/* grad *= inv_scale, and found_inf[0] = 1 where a block has met inf or NaN:

       static __global__ void unscale_kernel(Real *grad, size_t n, float inv_scale,
                                             float *found_inf);
 */
#ifndef STUB
static __global__ void unscale_kernel(Real *grad, size_t n, float inv_scale, float *found_inf) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    bool found = false;
    if (first < n) {
        float x[PACK];
        load_pack(x, grad + first, n - first);
        for (int i = 0; i < PACK; i++) {
            found = found || !isfinite(x[i]);
            x[i] *= inv_scale;
        }
        store_pack(grad + first, x, n - first);
    }
    if (__syncthreads_or(found) && threadIdx.x == 0) {
        found_inf[0] = 1;
    }
}
#endif

extern "C" void unscale_gpu(float *grad, size_t n, float inv_scale, float *found_inf) {
    if (n == 0) {
        return;
    }
#ifndef STUB
    unscale_kernel<<<blocks_for(n, THREADS * PACK), THREADS>>>((Real *)grad, n, inv_scale,
                                                               found_inf);
    LAUNCHED("unscale");
#else
    (void)grad, (void)inv_scale, (void)found_inf;
    TODO("task 2: the kernel that unscales and looks for inf and NaN (about 16 lines)");
#endif
}
