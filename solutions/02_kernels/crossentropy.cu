/* Lab 02: softmax and cross-entropy, on the GPU. The contract is in kernels/crossentropy.h. */
#include "kernels/crossentropy.h"

#include <float.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. V need not be a multiple of PACK, so rows may begin anywhere; but the
   tensor as a whole is a row of packs.

   forward: a block per row. Its threads take the packs that the row touches, one after the other,
   and leave out what belongs to the neighbours: each logit is read once, since the running sum is
   scaled whenever a larger maximum comes.

   backward: a thread per pack of the tensor, whichever rows it belongs to. lse is known, so no
   element needs another. */

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP };

/* sum of exp(x - max) over the logits seen so far; {-FLT_MAX, 0} before the first. A max of
   -INFINITY would not do: -INFINITY - -INFINITY is NaN. */
struct Seen {
    float max;
    float sum;
};

/* A block per row: losses[row] and lse[row]:

       static __global__ void forward(float *losses, float *lse, const Real *logits,
                                      const int32_t *targets, int N, int V);
 */
#ifdef SOLUTION
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

/* What all lanes of a warp have seen, on every lane. */
static __device__ inline Seen by_warp(Seen seen) {
    float max = warp_max(seen.max);
    Seen all = {max, warp_sum(seen.sum * expf(seen.max - max))};
    return all;
}

/* What all threads of a block have seen, on the threads of its first warp. */
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

static __global__ void forward(float *losses, float *lse, const Real *logits,
                               const int32_t *targets, int N, int V) {
    int row = blockIdx.x;
    size_t n = (size_t)N * V, begin = (size_t)row * V, end = begin + V;
    size_t first = begin / PACK * PACK + threadIdx.x * PACK;
    Seen seen = {-FLT_MAX, 0};
    for (; first < end; first += THREADS * PACK) {
        float x[PACK];
        load_pack(x, logits + first, n - first);
        for (int i = 0; i < PACK; i++) {
            if (first + i < begin || first + i >= end) {
                x[i] = -INFINITY;
            }
        }
        seen = with_pack(seen, x);
    }
    seen = by_block(seen);
    if (threadIdx.x == 0) {
        int target = targets[row];
        float row_lse = seen.max + logf(seen.sum);
        lse[row] = row_lse;
        losses[row] = target == IGNORE_INDEX ? 0 : row_lse - to_float(logits[begin + target]);
    }
}
#endif

/* A thread per PACK logits: dlogits += ..., or = ... where it is logits:

       static __global__ void backward(Real *dlogits, const Real *logits, const float *lse,
                                       const int32_t *targets, float dloss, size_t n, int V);
 */
#ifdef SOLUTION
static __global__ void backward(Real *dlogits, const Real *logits, const float *lse,
                                const int32_t *targets, float dloss, size_t n, int V) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    float x[PACK], dx[PACK] = {0};
    load_pack(x, logits + first, n - first);
    if (dlogits != logits) {
        load_pack(dx, dlogits + first, n - first);
    }
    int row = (int)(first / V), v = (int)(first % V);
    int target = targets[row];
    float row_lse = lse[row];
    for (int i = 0; i < PACK; i++, v++) {
        if (v == V && first + i < n) { /* the pack goes on in the next row */
            row++;
            v = 0;
            target = targets[row];
            row_lse = lse[row];
        }
        if (target != IGNORE_INDEX) {
            dx[i] += dloss * (expf(x[i] - row_lse) - (v == target ? 1 : 0));
        }
    }
    store_pack(dlogits + first, dx, n - first);
}
#endif

extern "C" void GPU(crossentropy_forward)(float *losses, float *lse, const Real *logits,
                                          const int32_t *targets, int N, int V) {
    if (N == 0) {
        return;
    }
#ifdef SOLUTION
    forward<<<N, THREADS>>>(losses, lse, logits, targets, N, V);
    LAUNCHED("crossentropy_forward");
#else
    (void)losses, (void)lse, (void)logits, (void)targets, (void)V;
    TODO("task 4: forward, and launch it (about 60 lines)");
#endif
}

extern "C" void GPU(crossentropy_backward)(Real *dlogits, const Real *logits, const float *lse,
                                           const int32_t *targets, float dloss, int N, int V) {
    size_t n = (size_t)N * V;
    if (n == 0) {
        return;
    }
#ifdef SOLUTION
    backward<<<blocks_for(n, THREADS * PACK), THREADS>>>(dlogits, logits, lse, targets, dloss, n,
                                                         V);
    LAUNCHED("crossentropy_backward");
#else
    (void)dlogits, (void)logits, (void)lse, (void)targets, (void)dloss;
    TODO("task 5: backward, and launch it (about 30 lines)");
#endif
}
