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
#ifndef STUB
/* With PACK more logits; -INFINITY adds nothing. */
static __device__ inline Seen with_pack(Seen seen, const float x[PACK]) {
    float max = seen.max;
    for (int i = 0; i < PACK; i++) {
        max = fmaxf(max, x[i]);
    }
    Seen more = {max, seen.sum * expf(seen.max - max)};
    for (int i = 0; i < PACK; i++) {
        more.sum += expf(x[i] - max);
    }
    return more;
}

/* The logits seen by all lanes of a warp, on every lane. */
static __device__ inline Seen by_warp(Seen seen) {
    float max = warp_max(seen.max);
    Seen all = {max, warp_sum(seen.sum * expf(seen.max - max))};
    return all;
}

/* The logits seen by all threads of a block, on the threads of its first warp. */
static __device__ inline Seen by_block(Seen seen) {
    __shared__ float max[WARPS], sum[WARPS];
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    seen = by_warp(seen);
    if (lane == 0) {
        max[warp] = seen.max;
        sum[warp] = seen.sum;
    }
    __syncthreads();
    if (warp == 0) {
        seen.max = lane < WARPS ? max[lane] : -FLT_MAX;
        seen.sum = lane < WARPS ? sum[lane] : 0;
        seen = by_warp(seen);
    }
    return seen;
}

static __global__ void crossentropy_forward_kernel(float *losses, float *lse, const Real *logits,
                                                   const int32_t *targets, int V, int stride) {
    int row = blockIdx.x;
    const Real *of_row = logits + (size_t)row * stride;
    Seen seen = {-FLT_MAX, 0};
    for (int first = threadIdx.x * PACK; first < V; first += THREADS * PACK) {
        float x[PACK];
        load_pack(x, of_row + first, V - first);
        for (int i = 0; i < PACK; i++) {
            x[i] = first + i < V ? x[i] : -INFINITY;
        }
        seen = with_pack(seen, x);
    }
    seen = by_block(seen);
    if (threadIdx.x == 0) {
        int target = targets[row];
        float row_lse = seen.max + logf(seen.sum);
        lse[row] = row_lse;
        losses[row] = target == IGNORE_INDEX ? 0 : row_lse - to_float(of_row[target]);
    }
}
#endif

/* A thread per PACK logits: dlogits += ..., or = ... where it is logits:

       static __global__ void crossentropy_backward_kernel(Real *dlogits, const Real *logits,
                                                           const float *lse, const int32_t *targets,
                                                           float dloss, int N, int V, int stride);
 */
#ifndef STUB
static __global__ void crossentropy_backward_kernel(Real *dlogits, const Real *logits,
                                                    const float *lse, const int32_t *targets,
                                                    float dloss, int N, int V, int stride) {
    size_t pack = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    int packs = (V + PACK - 1) / PACK; /* of a row */
    int row = (int)(pack / packs), first = (int)(pack % packs) * PACK;
    if (row >= N) {
        return;
    }
    size_t at = (size_t)row * stride + first;
    float x[PACK], dx[PACK] = {0};
    load_pack(x, logits + at, V - first);
    if (dlogits != logits) {
        load_pack(dx, dlogits + at, V - first);
    }
    int target = targets[row];
    float row_lse = lse[row];
    for (int i = 0; i < PACK && target != IGNORE_INDEX; i++) {
        dx[i] += dloss * (expf(x[i] - row_lse) - (first + i == target ? 1 : 0));
    }
    store_pack(dlogits + at, dx, V - first);
}
#endif

extern "C" void GPU(crossentropy_forward)(float *losses, float *lse, const Real *logits,
                                          const int32_t *targets, int N, int V, int stride) {
    CHECK(stride >= V && stride % PACK == 0, "stride = %d, V = %d", stride, V);
    if (N == 0) {
        return;
    }
#ifndef STUB
    crossentropy_forward_kernel<<<N, THREADS>>>(losses, lse, logits, targets, V, stride);
    LAUNCHED("crossentropy_forward");
#else
    (void)losses, (void)lse, (void)logits, (void)targets;
    TODO("task 4: crossentropy_forward_kernel, and launch it (about 60 lines)");
#endif
}

extern "C" void GPU(crossentropy_backward)(Real *dlogits, const Real *logits, const float *lse,
                                           const int32_t *targets, float dloss, int N, int V,
                                           int stride) {
    CHECK(stride >= V && stride % PACK == 0, "stride = %d, V = %d", stride, V);
    if (N == 0) {
        return;
    }
#ifndef STUB
    size_t packs = (size_t)N * ((V + PACK - 1) / PACK);
    crossentropy_backward_kernel<<<blocks_for(packs, THREADS), THREADS>>>(
        dlogits, logits, lse, targets, dloss, N, V, stride);
    LAUNCHED("crossentropy_backward");
#else
    (void)dlogits, (void)logits, (void)lse, (void)targets, (void)dloss;
    TODO("task 5: crossentropy_backward_kernel, and launch it (about 30 lines)");
#endif
}
