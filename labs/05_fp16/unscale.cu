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

extern "C" void unscale_gpu(float *grad, size_t n, float inv_scale, float *found_inf) {
    if (n == 0) {
        return;
    }
    (void)grad, (void)inv_scale, (void)found_inf;
    TODO("task 2: the kernel that unscales and looks for inf and NaN (about 16 lines)");
}
