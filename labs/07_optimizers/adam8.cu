/* Lab 07: AdamW with moments of one byte, on the GPU. The contract is in kernels/adam8.h. */
#include "kernels/adam8.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. A block of threads takes one block of the list's flat index after
   the other (kernels/tensors.h): these are numbers of one tensor alone, and the same 256 have a
   scale in common. Each thread takes one of them; at a tensor's end some have none, but all of
   them meet at the barriers. The codebooks come with the launch and are copied to shared
   memory, where each thread may look at another place. That copy takes longer than an update of
   256 numbers: constant memory serves one address at a time. So there are MOST blocks of
   threads, which copy once. */

enum { THREADS = ADAM8_BLOCK, WARP = 32, WARPS = THREADS / WARP, MOST = 2048 };

/* The largest |x| of the block, on every thread; one that is NaN or inf is not lost; all must call.
   And nearest(Q, x), with a codebook and what helps to search it, in shared memory:

       static __device__ float block_absmax(float x);
       static __device__ unsigned char nearest(const Book *Q, float x);
 */

/* One update of the numbers of all blocks:

       static __global__ void adam8_kernel(TensorList weight, const Moment8 *m, const Moment8 *v,
                                           TensorList grad, Codebooks codebooks, AdamW adamw,
                                           float correct1, float correct2);
 */

extern "C" void adam8_gpu(TensorList weight, const Moment8 *m, const Moment8 *v, TensorList grad,
                          const Codebooks *codebooks, AdamW adamw, int t) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    if (weight.length == 0) {
        return;
    }
    /* The same for all elements, and in double: 1 - beta^t has few digits left in float. */
    float correct1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float correct2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
    (void)m, (void)v, (void)grad, (void)codebooks, (void)correct1, (void)correct2;
    TODO("task 2: block_absmax, nearest and adam8_kernel, and launch it (about 80 lines)");
}
