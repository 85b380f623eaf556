/* Plain causal attention on the GPU: cuBLAS for the products, a batch of all heads at once, and one
   kernel for each pass over the rows of scores. The contract is in attention.h, the C twin
   attention.c. */
#include "kernels/attention.h"

#include "kernels/gemm.h"
#include "kernels/real.cuh"

/* How threads map to data. Sequences are handled one after the other, so the scores of one suffice
   as workspace. Within one, a warp takes a row of T scores, of any head: its lanes read
   neighbouring keys. Half of the scores lie in the future: cuBLAS computes them with the rest, and
   they are never read. */

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP };

/* The warp's row, from the last to the first: late rows are the longest. Beyond the first row the
   number wraps around to none. */
static __device__ inline size_t row_of_warp(size_t rows) {
    return rows - 1 - ((size_t)blockIdx.x * WARPS + threadIdx.x / WARP);
}

/* probs (rows, T) from score (rows, T): 0 where the future is. */
static __global__ void attention_forward_softmax_kernel(Real *probs, const float *score,
                                                        size_t rows, int T) {
    size_t row = row_of_warp(rows);
    if (row >= rows) {
        return;
    }
    const float *x = score + row * T;
    Real *p = probs + row * T;
    int lane = threadIdx.x % WARP, t = (int)(row % T);
    float max = -INFINITY, sum = 0;
    /* max = the largest score of s <= t */
    for (int s = lane; s <= t; s += WARP) {
        max = fmaxf(max, x[s]);
    }
    max = warp_max(max);
    /* sum = sum_s exp(score[s] - max) */
    for (int s = lane; s <= t; s += WARP) {
        sum += expf(x[s] - max);
    }
    float norm = 1 / warp_sum(sum);
    /* probs[s] = exp(score[s] - max) / sum, 0 for s > t */
    for (int s = lane; s < T; s += WARP) {
        p[s] = real(s <= t ? expf(x[s] - max) * norm : 0);
    }
}

/* dscore (rows, T) from the gradient of the probabilities. */
static __global__ void attention_backward_softmax_kernel(Real *dscore, const float *dprobs,
                                                         const Real *probs, size_t rows, int T) {
    size_t row = row_of_warp(rows);
    if (row >= rows) {
        return;
    }
    const Real *p = probs + row * T;
    const float *dp = dprobs + row * T;
    Real *dx = dscore + row * T;
    int lane = threadIdx.x % WARP, t = (int)(row % T);
    float sum = 0;
    /* sum = sum_r probs[r] * dprobs[r] */
    for (int s = lane; s <= t; s += WARP) {
        sum += to_float(p[s]) * dp[s];
    }
    sum = warp_sum(sum);
    /* dscore[s] = probs[s] * (dprobs[s] - sum) */
    for (int s = lane; s < T; s += WARP) {
        dx[s] = real(s <= t ? to_float(p[s]) * (dp[s] - sum) : 0);
    }
}

/* The heads of one sequence, inside rows of `channels` numbers. */
static Matrix heads(const Real *x, int channels, int HS) {
    return matrix(x, REAL_PRECISION, channels, HS);
}

/* A (T, T) matrix for each head. */
static Matrix squares(const void *x, Precision precision, int T) {
    return matrix(x, precision, T, (size_t)T * T);
}

static void check(int T, int C, int NH, const Workspace *workspace) {
    size_t bytes = attention_scratch_gpu(REAL_PRECISION, T, NH);
    CHECK(C % NH == 0, "C = %d is not a multiple of NH = %d", C, NH);
    CHECK(workspace->bytes >= bytes, "workspace of %zu bytes, needs %zu", workspace->bytes, bytes);
}

extern "C" void GPU(attention_forward)(Real *out, Real *probs, const Real *qkv, int B, int T, int C,
                                       int NH, const Workspace *workspace) {
    check(T, C, NH, workspace);
    int HS = C / NH;
    size_t rows = (size_t)NH * T;
    float *score = (float *)workspace->data;
    for (int b = 0; b < B && T > 0; b++) {
        const Real *x = qkv + (size_t)b * T * 3 * C;
        Matrix q = heads(x, 3 * C, HS), k = heads(x + C, 3 * C, HS),
               v = heads(x + 2 * C, 3 * C, HS);
        Matrix y = heads(out + (size_t)b * T * C, C, HS);
        Real *p = probs + b * rows * T;

        /* score = q k^T / sqrt(HS) */
        gemm(squares(score, F32, T), 1 / sqrtf(HS), q, transpose(k), 0, T, T, HS, NH, workspace);
        attention_forward_softmax_kernel<<<blocks_for(rows, WARPS), THREADS>>>(p, score, rows, T);
        LAUNCHED("attention_forward");
        /* out = probs v */
        gemm(y, 1, squares(p, REAL_PRECISION, T), v, 0, T, HS, T, NH, workspace);
    }
}

extern "C" void GPU(attention_backward)(Real *dqkv, const Real *dout, const Real *probs,
                                        const Real *qkv, int B, int T, int C, int NH,
                                        const Workspace *workspace) {
    check(T, C, NH, workspace);
    int HS = C / NH;
    size_t rows = (size_t)NH * T;
    float scale = 1 / sqrtf(HS);
    float *dprobs = (float *)workspace->data;
    Real *dscore = (Real *)(dprobs + rows * T);
    Matrix dx = squares(dscore, REAL_PRECISION, T);
    for (int b = 0; b < B && T > 0; b++) {
        size_t at = (size_t)b * T * 3 * C;
        const Real *x = qkv + at, *kept = probs + b * rows * T;
        Matrix q = heads(x, 3 * C, HS), k = heads(x + C, 3 * C, HS),
               v = heads(x + 2 * C, 3 * C, HS);
        Matrix dq = heads(dqkv + at, 3 * C, HS), dk = heads(dqkv + at + C, 3 * C, HS);
        Matrix dv = heads(dqkv + at + 2 * C, 3 * C, HS);
        Matrix dy = heads(dout + (size_t)b * T * C, C, HS);
        Matrix p = squares(kept, REAL_PRECISION, T);

        /* dv += probs^T dout, dprobs = dout v^T */
        gemm(dv, 1, transpose(p), dy, 1, T, HS, T, NH, workspace);
        gemm(squares(dprobs, F32, T), 1, dy, transpose(v), 0, T, T, HS, NH, workspace);
        attention_backward_softmax_kernel<<<blocks_for(rows, WARPS), THREADS>>>(dscore, dprobs,
                                                                                kept, rows, T);
        LAUNCHED("attention_backward");
        /* dq += dscore k / sqrt(HS), dk += dscore^T q / sqrt(HS) */
        gemm(dq, scale, dx, k, 1, T, HS, T, NH, workspace);
        gemm(dk, scale, transpose(dx), q, 1, T, HS, T, NH, workspace);
    }
}
