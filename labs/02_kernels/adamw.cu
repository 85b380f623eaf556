/* Lab 02: AdamW, on the GPU. The contract is in kernels/adamw.h. */
#include "kernels/adamw.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. The four lists have one flat index (kernels/tensors.h), and a thread
   takes PACK neighbours of it: it finds their place once, reads four packs, 16 bytes in one access,
   and writes three. Compiled once, without a precision: Real holds a float. */

enum { THREADS = 256 };

/* One update of PACK elements by each thread:

       static __global__ void adamw_kernel(TensorList weight, TensorList m, TensorList v,
                                           TensorList grad, AdamW adamw, float correct1,
                                           float correct2);
 */

extern "C" void adamw_gpu(TensorList weight, TensorList m, TensorList v, TensorList grad,
                          AdamW adamw, int t) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    if (weight.length == 0) {
        return;
    }
    /* The same for all elements, and in double: 1 - beta^t has few digits left in float. */
    float correct1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float correct2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
    (void)m, (void)v, (void)grad, (void)correct1, (void)correct2;
    TODO("task 3: adamw_kernel, and launch it (about 30 lines)");
}
