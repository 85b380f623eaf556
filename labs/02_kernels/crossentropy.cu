/* Lab 02: softmax and cross-entropy, on the GPU. The contract is in kernels/crossentropy.h. */
#include "kernels/crossentropy.h"

#include <float.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. Rows begin `stride` numbers apart, a multiple of PACK: so each begins
   with a whole pack. V need not be a multiple of PACK: the last pack of a row may be a part of one,
   and what lies after it is padding, which is nobody's.

   Forward: a block per row. Its threads take the row's packs, one after the other: each logit is
   read once, since the running sum is scaled whenever a larger maximum comes.

   Backward: a thread per pack, row after row. lse is known, so no element needs another. */

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP };

/* sum of exp(x - max) over the logits seen so far; {-FLT_MAX, 0} before the first. A max of
   -INFINITY would not do: -INFINITY - -INFINITY is NaN. */
struct Seen {
    float max;
    float sum;
};

/* A block per row: losses[row] and lse[row]:

       static __global__ void crossentropy_forward_kernel(float *losses, float *lse,
                                                          const Real *logits,
                                                          const int32_t *targets, int V,
                                                          int stride);
 */

/* A thread per PACK logits: dlogits += ..., or = ... where it is logits:

       static __global__ void crossentropy_backward_kernel(Real *dlogits, const Real *logits,
                                                           const float *lse, const int32_t *targets,
                                                           float dloss, int N, int V, int stride);
 */

extern "C" void GPU(crossentropy_forward)(float *losses, float *lse, const Real *logits,
                                          const int32_t *targets, int N, int V, int stride) {
    CHECK(stride >= V && stride % PACK == 0, "stride = %d, V = %d", stride, V);
    if (N == 0) {
        return;
    }
    (void)losses, (void)lse, (void)logits, (void)targets;
    TODO("task 4: crossentropy_forward_kernel, and launch it (about 60 lines)");
}

extern "C" void GPU(crossentropy_backward)(Real *dlogits, const Real *logits, const float *lse,
                                           const int32_t *targets, float dloss, int N, int V,
                                           int stride) {
    CHECK(stride >= V && stride % PACK == 0, "stride = %d, V = %d", stride, V);
    if (N == 0) {
        return;
    }
    (void)dlogits, (void)logits, (void)lse, (void)targets, (void)dloss;
    TODO("task 5: crossentropy_backward_kernel, and launch it (about 30 lines)");
}
