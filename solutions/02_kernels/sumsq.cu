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
#ifdef SOLUTION
static __device__ float block_sum(float x) {
    __shared__ float of_warp[WARPS];
    x = warp_sum(x);
    if (threadIdx.x % WARP == 0) {
        of_warp[threadIdx.x / WARP] = x;
    }
    __syncthreads();
    float sum = 0;
    for (int warp = 0; warp < WARPS; warp++) {
        sum += of_warp[warp];
    }
    return sum;
}
#endif

/* partial[block] = sum of squares of what the block has walked over:

       static __global__ void partial_sums(float *partial, const Real *x, size_t n);
 */
#ifdef SOLUTION
static __global__ void partial_sums(float *partial, const Real *x, size_t n) {
    size_t step = (size_t)gridDim.x * THREADS * PACK;
    size_t first = ((size_t)blockIdx.x * THREADS + threadIdx.x) * PACK;
    float sum = 0;
    for (; first < n; first += step) {
        float y[PACK];
        load_pack(y, x + first, n - first);
        for (int i = 0; i < PACK; i++) {
            sum += y[i] * y[i];
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}
#endif

/* One block: out[0] += all partial sums.

       static __global__ void add_partials(float *out, const float *partial, int count);
 */
#ifdef SOLUTION
static __global__ void add_partials(float *out, const float *partial, int count) {
    float sum = 0;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        sum += partial[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        out[0] += sum;
    }
}
#endif

extern "C" void sumsq_gpu(float *out, const float *x, size_t n, const Workspace *workspace) {
    if (n == 0) {
        return;
    }
    unsigned blocks = blocks_for(n, THREADS * PACK);
    if (blocks > BLOCKS) {
        blocks = BLOCKS;
    }
    CHECK(workspace->bytes >= blocks * sizeof(float), "workspace of %zu bytes", workspace->bytes);
#ifdef SOLUTION
    float *partial = (float *)workspace->data;
    partial_sums<<<blocks, THREADS>>>(partial, (const Real *)x, n);
    LAUNCHED("sumsq, partial sums");
#else
    (void)x;
    TODO("task 1: block_sum and partial_sums, and launch it (about 30 lines)");
#endif
#ifdef SOLUTION
    add_partials<<<1, THREADS>>>(out, partial, blocks);
    LAUNCHED("sumsq, their sum");
#else
    (void)out;
    TODO("task 2: add_partials, and launch it (about 12 lines)");
#endif
}
