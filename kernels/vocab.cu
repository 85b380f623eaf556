/* Softmax and cross-entropy over a range of the vocabulary, on the GPU. The contract is in vocab.h,
   the C twin is vocab.c. */
#include "kernels/vocab.h"

#include "kernels/real.cuh"

/* How threads map to data. Reductions: a warp per row, whose lanes take neighbours, 32 at a time.
   Backward: a thread per PACK neighbours of a row. What has one number a row: a thread per row. */

enum { THREADS = 256, WARP = 32, ROWS = THREADS / WARP };

static __device__ int row_of_thread(void) {
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

static __global__ void vocab_ids_kernel(int32_t *out, const int32_t *ids, int first, int V, int N) {
    int row = row_of_thread();
    if (row < N) {
        int id = ids[row];
        int here = id >= first && id - first < V;
        out[row] = id == IGNORE_INDEX ? IGNORE_INDEX : here ? id - first : NOT_HERE;
    }
}

static __global__ void vocab_max_kernel(float *max, const Real *logits, int N, int V, int stride) {
    int row = (int)(blockIdx.x * ROWS + threadIdx.x / WARP), lane = (int)threadIdx.x % WARP;
    if (row >= N) {
        return;
    }
    const Real *x = logits + (size_t)row * stride;
    float most = -INFINITY;
    for (int v = lane; v < V; v += WARP) {
        most = fmaxf(most, to_float(x[v]));
    }
    most = warp_max(most);
    if (lane == 0) {
        max[row] = most;
    }
}

static __global__ void vocab_sum_kernel(float *sum, float *at_target, const Real *logits,
                                        const float *max, const int32_t *targets, int N, int V,
                                        int stride) {
    int row = (int)(blockIdx.x * ROWS + threadIdx.x / WARP), lane = (int)threadIdx.x % WARP;
    if (row >= N) {
        return;
    }
    const Real *x = logits + (size_t)row * stride;
    float all = 0, most = max[row];
    for (int v = lane; v < V; v += WARP) {
        all += expf(to_float(x[v]) - most);
    }
    all = warp_sum(all);
    if (lane == 0) {
        sum[row] = all;
        at_target[row] = targets[row] >= 0 ? to_float(x[targets[row]]) : 0;
    }
}

static __global__ void vocab_loss_kernel(float *losses, float *lse, const float *max,
                                         const float *sum, const float *at_target,
                                         const int32_t *targets, int N) {
    int row = row_of_thread();
    if (row < N) {
        float row_lse = max[row] + logf(sum[row]);
        lse[row] = row_lse;
        losses[row] = targets[row] == IGNORE_INDEX ? 0 : row_lse - at_target[row];
    }
}

static __global__ void vocab_backward_kernel(Real *logits, const float *lse, const int32_t *targets,
                                             float dloss, int N, int V, int stride) {
    size_t pack = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    int packs = (V + PACK - 1) / PACK; /* of a row */
    int row = (int)(pack / packs), first = (int)(pack % packs) * PACK;
    if (row >= N) {
        return;
    }
    Real *at = logits + (size_t)row * stride + first;
    int target = targets[row];
    float row_lse = lse[row], x[PACK];
    load_pack(x, at, V - first);
    for (int i = 0; i < PACK; i++) {
        float p = expf(x[i] - row_lse) - (first + i == target ? 1 : 0);
        x[i] = target == IGNORE_INDEX ? 0 : dloss * p;
    }
    store_pack(at, x, V - first);
}

extern "C" void GPU(vocab_ids)(int32_t *out, const int32_t *ids, int first, int V, int N) {
    if (N > 0) {
        vocab_ids_kernel<<<blocks_for(N, THREADS), THREADS>>>(out, ids, first, V, N);
        LAUNCHED("vocab_ids");
    }
}

extern "C" void GPU(vocab_max)(float *max, const Real *logits, int N, int V, int stride) {
    if (N > 0) {
        vocab_max_kernel<<<blocks_for(N, ROWS), THREADS>>>(max, logits, N, V, stride);
        LAUNCHED("vocab_max");
    }
}

extern "C" void GPU(vocab_sum)(float *sum, float *at_target, const Real *logits, const float *max,
                               const int32_t *targets, int N, int V, int stride) {
    if (N > 0) {
        vocab_sum_kernel<<<blocks_for(N, ROWS), THREADS>>>(sum, at_target, logits, max, targets, N,
                                                           V, stride);
        LAUNCHED("vocab_sum");
    }
}

extern "C" void GPU(vocab_loss)(float *losses, float *lse, const float *max, const float *sum,
                                const float *at_target, const int32_t *targets, int N) {
    if (N > 0) {
        vocab_loss_kernel<<<blocks_for(N, THREADS), THREADS>>>(losses, lse, max, sum, at_target,
                                                               targets, N);
        LAUNCHED("vocab_loss");
    }
}

extern "C" void GPU(vocab_backward)(Real *logits, const float *lse, const int32_t *targets,
                                    float dloss, int N, int V, int stride) {
    CHECK(stride >= V && stride % PACK == 0, "stride = %d, V = %d", stride, V);
    if (N > 0) {
        size_t packs = (size_t)N * (((size_t)V + PACK - 1) / PACK);
        vocab_backward_kernel<<<blocks_for(packs, THREADS), THREADS>>>(logits, lse, targets, dloss,
                                                                       N, V, stride);
        LAUNCHED("vocab_backward");
    }
}
