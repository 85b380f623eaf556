/* Lab 02: the sum of squares of a tensor, on the GPU. The contract is in kernels/sumsq.h. */
#include "kernels/sumsq.h"

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. At most BLOCKS blocks walk over the tensor together: each thread takes
   PACK neighbours, 16 bytes in one access, then jumps over all that the grid has taken. Each block
   leaves one partial sum in the workspace, and a single block adds those up. How many blocks there
   are, and who adds what, depends on n alone: so do the bits of the sum. Compiled once, without a
   precision: Real is a float. */

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP, BLOCKS = 1024 };

/* Sum over the threads of a block, on every thread; all must call, once in a kernel:

       static __device__ float block_sum(float x);
 */

/* partial[block] = sum of squares of what the block has walked over:

       static __global__ void partial_sums(float *partial, const Real *x, size_t n);
 */

/* One block: out[0] += all partial sums.

       static __global__ void add_partials(float *out, const float *partial, int count);
 */

extern "C" void sumsq_gpu(float *out, const float *x, size_t n, const Workspace *workspace) {
    if (n == 0) {
        return;
    }
    unsigned blocks = blocks_for(n, THREADS * PACK);
    if (blocks > BLOCKS) {
        blocks = BLOCKS;
    }
    CHECK(workspace->bytes >= blocks * sizeof(float), "workspace of %zu bytes", workspace->bytes);
    (void)x;
    TODO("task 1: block_sum and partial_sums, and launch it (about 30 lines)");
    (void)out;
    TODO("task 2: add_partials, and launch it (about 12 lines)");
}
