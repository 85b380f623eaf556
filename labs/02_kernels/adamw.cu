/* Lab 02: AdamW, on the GPU. The contract is in kernels/adamw.h. */
#include "kernels/adamw.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. The four tensors are rows of n numbers, and a thread takes PACK
   neighbours of each, 16 bytes in one access: it reads four packs and writes three. Compiled once,
   without a precision: Real is a float. */

enum { THREADS = 256 };

/* One update of PACK elements by each thread:

       static __global__ void update(Real *weight, Real *m, Real *v, const Real *grad, size_t n,
                                     AdamW adamw, float correct1, float correct2);
 */

extern "C" void adamw_gpu(float *weight, float *m, float *v, const float *grad, size_t n,
                          AdamW adamw, int t) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    if (n == 0) {
        return;
    }
    /* The same for all elements, and in double: 1 - beta^t has few digits left in float. */
    float correct1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float correct2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
    (void)weight, (void)m, (void)v, (void)grad, (void)correct1, (void)correct2;
    TODO("task 3: update, and launch it (about 25 lines)");
}
