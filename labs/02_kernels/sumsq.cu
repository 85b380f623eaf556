/* Lab 02: the sum of squares of a list of tensors, on the GPU.
   The contract is in kernels/sumsq.h. */
#include "kernels/sumsq.h"

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. A block of threads takes a block of TENSOR_BLOCK indices of the list's
   flat index (kernels/tensors.h): each thread PACK neighbours, 16 bytes in one access. It leaves
   their sum in the workspace, and then a single block of ADDERS threads adds up all those sums. Who
   adds what depends on their number alone: so do the bits. Compiled once, without a precision: Real
   holds a float. */

enum { THREADS = TENSOR_BLOCK / PACK, ADDERS = 256, WARP = 32 };

/* Sum over the threads of a block, at most ADDERS, on every thread; all must call, once in a
   kernel:

       static __device__ double block_sum(double x);
 */

/* partial[block] = sum of squares of the block's numbers:

       static __global__ void sumsq_partials_kernel(double *partial, TensorList list);
 */

/* One block: out[0] += all partial sums.

       static __global__ void sumsq_add_kernel(float *out, const double *partial, size_t count);
 */

extern "C" void sumsq_gpu(float *out, TensorList x, const Workspace *workspace) {
    CHECK(workspace->bytes >= sumsq_scratch(x.length), "workspace of %zu bytes, %zu indices",
          workspace->bytes, x.length);
    if (x.length == 0) {
        return;
    }
    size_t blocks = x.length / TENSOR_BLOCK;
    (void)blocks;
    TODO("task 1: block_sum and sumsq_partials_kernel, and launch it (about 25 lines)");
    (void)out;
    TODO("task 2: sumsq_add_kernel, and launch it (about 12 lines)");
}
