/* Plain causal attention on the GPU: cuBLAS for the products, a batch of all heads of several
   sequences at once, and one kernel for each pass over the rows of scores. The contract is in
   attention.h, the C twin attention.c. */
#include "kernels/attention.h"

#include "kernels/gemm.h"
#include "kernels/real.cuh"

/* How threads map to data. A warp takes a row of T scores, of any head: its lanes read neighbouring
   keys. Half of the scores lie in the future: cuBLAS computes them with the rest, and they are
   never read.

   The heads of one sequence lie at equal distances, and so do sequences, but not all heads of
   several. So cuBLAS is given the address of each matrix, and these are computed on the GPU: a
   thread makes one of them. */

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP };

/* ---- addresses ------------------------------------------------------------------------------- */

/* Tensors with a matrix for each head. Forward ends before DQ; SQUARES are scores or gradients. */
enum { Q, K, V, OUT, PROBS, SQUARES, DQ, DK, DV, ARRAYS };

/* Where the first head's matrix begins, and how many bytes further those of the next head and of
   the next sequence do. */
typedef struct Heads {
    char *first;
    size_t head, sequence;
} Heads;

typedef struct AllHeads {
    Heads of[ARRAYS];
} AllHeads;

/* table (ARRAYS, heads): the addresses, sequence by sequence. */
static __global__ void attention_addresses_kernel(void **table, AllHeads all, int arrays, int heads,
                                                  int NH) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= arrays * heads) {
        return;
    }
    Heads x = all.of[i / heads];
    int h = i % heads % NH, b = i % heads / NH;
    table[i] = x.first + b * x.sequence + h * x.head;
}

/* The heads of rows of `channels` numbers, from channel `first` on; T rows in a sequence. */
static Heads in_rows(const Real *x, int first, int channels, int T, int HS) {
    Heads heads = {(char *)(x + first), HS * sizeof(Real), (size_t)T * channels * sizeof(Real)};
    return heads;
}

/* A (T, T) matrix for each head. */
static Heads squares(const void *x, size_t bytes, int T, int NH) {
    size_t square = (size_t)T * T * bytes;
    Heads heads = {(char *)x, square, NH * square};
    return heads;
}

/* ---- softmax --------------------------------------------------------------------------------- */

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

/* Gradients of scores take the place of the gradients of probabilities: a row of T numbers of the
   storage type at the start of T floats. */
static __global__ void attention_backward_softmax_kernel(float *dprobs, const Real *probs,
                                                         size_t rows, int T) {
    size_t row = row_of_warp(rows);
    if (row >= rows) {
        return;
    }
    const Real *p = probs + row * T;
    const float *dp = dprobs + row * T;
    Real *dx = (Real *)(dprobs + row * T);
    int lane = threadIdx.x % WARP, t = (int)(row % T);
    float sum = 0;
    /* sum = sum_r probs[r] * dprobs[r] */
    for (int s = lane; s <= t; s += WARP) {
        sum += to_float(p[s]) * dp[s];
    }
    sum = warp_sum(sum);
    /* dscore[s] = probs[s] * (dprobs[s] - sum): all lanes read before any writes */
    for (int first = 0; first < T; first += WARP) {
        int s = first + lane;
        float x = s <= t ? to_float(p[s]) * (dp[s] - sum) : 0;
        __syncwarp();
        if (s < T) {
            dx[s] = real(x);
        }
        __syncwarp();
    }
}

/* ---- launchers ------------------------------------------------------------------------------- */

/* Some sequences at once: what the products are asked for. */
typedef struct HeadBatch {
    float *square; /* (heads, T, T), in the workspace */
    void **table;  /* (ARRAYS, heads), after it */
    int heads;
} HeadBatch;

static HeadBatch batch_of(int count, int T, int NH, const Workspace *workspace) {
    float *square = (float *)workspace->data;
    size_t floats = attention_sequences(T, NH) * attention_scores(T, NH) / sizeof(float);
    HeadBatch batch = {square, (void **)(square + floats), count * NH};
    return batch;
}

static void find(HeadBatch batch, AllHeads all, int arrays, int NH) {
    attention_addresses_kernel<<<blocks_for(arrays * batch.heads, THREADS), THREADS>>>(
        batch.table, all, arrays, batch.heads, NH);
    LAUNCHED("attention");
}

static Matrix each(HeadBatch batch, int array, Precision precision, int ld) {
    return matrix_each(batch.table + array * batch.heads, precision, ld);
}

/* Sequences from b on that are taken at once. */
static int at_once(int b, int B, int T, int NH) {
    int most = attention_sequences(T, NH);
    return B - b < most ? B - b : most;
}

static void check(int T, int C, int NH, const Workspace *workspace) {
    size_t bytes = attention_scratch_gpu(T, NH);
    CHECK(C % NH == 0, "C = %d is not a multiple of NH = %d", C, NH);
    CHECK(workspace->bytes >= bytes, "workspace of %zu bytes, needs %zu", workspace->bytes, bytes);
}

extern "C" void GPU(attention_forward)(Real *out, Real *probs, const Real *qkv, int B, int T, int C,
                                       int NH, const Workspace *workspace) {
    check(T, C, NH, workspace);
    int HS = C / NH, count;
    for (int b = 0; b < B && T > 0; b += count) {
        count = at_once(b, B, T, NH);
        HeadBatch batch = batch_of(count, T, NH, workspace);
        size_t rows = (size_t)batch.heads * T;
        const Real *x = qkv + (size_t)b * T * 3 * C;
        Real *p = probs + (size_t)b * NH * T * T;
        AllHeads all = {
            {in_rows(x, 0, 3 * C, T, HS), in_rows(x, C, 3 * C, T, HS),
             in_rows(x, 2 * C, 3 * C, T, HS), in_rows(out + (size_t)b * T * C, 0, C, T, HS),
             squares(p, sizeof(Real), T, NH), squares(batch.square, sizeof(float), T, NH)}};
        find(batch, all, DQ, NH);
        Matrix q = each(batch, Q, REAL_PRECISION, 3 * C), k = each(batch, K, REAL_PRECISION, 3 * C);
        Matrix v = each(batch, V, REAL_PRECISION, 3 * C), y = each(batch, OUT, REAL_PRECISION, C);

        /* score = q k^T / sqrt(HS) */
        gemm(each(batch, SQUARES, F32, T), 1 / sqrtf(HS), q, transpose(k), 0, T, T, HS, batch.heads,
             workspace);
        attention_forward_softmax_kernel<<<blocks_for(rows, WARPS), THREADS>>>(p, batch.square,
                                                                               rows, T);
        LAUNCHED("attention_forward");
        /* out = probs v */
        gemm(y, 1, each(batch, PROBS, REAL_PRECISION, T), v, 0, T, HS, T, batch.heads, workspace);
    }
}

extern "C" void GPU(attention_backward)(Real *dqkv, const Real *dout, const Real *probs,
                                        const Real *qkv, int B, int T, int C, int NH,
                                        const Workspace *workspace) {
    check(T, C, NH, workspace);
    int HS = C / NH, count;
    float scale = 1 / sqrtf(HS);
    for (int b = 0; b < B && T > 0; b += count) {
        count = at_once(b, B, T, NH);
        HeadBatch batch = batch_of(count, T, NH, workspace);
        size_t rows = (size_t)batch.heads * T, at = (size_t)b * T * 3 * C;
        const Real *x = qkv + at, *p = probs + (size_t)b * NH * T * T;
        AllHeads all = {
            {in_rows(x, 0, 3 * C, T, HS), in_rows(x, C, 3 * C, T, HS),
             in_rows(x, 2 * C, 3 * C, T, HS), in_rows(dout + (size_t)b * T * C, 0, C, T, HS),
             squares(p, sizeof(Real), T, NH), squares(batch.square, sizeof(float), T, NH),
             in_rows(dqkv + at, 0, 3 * C, T, HS), in_rows(dqkv + at, C, 3 * C, T, HS),
             in_rows(dqkv + at, 2 * C, 3 * C, T, HS)}};
        find(batch, all, ARRAYS, NH);
        Matrix q = each(batch, Q, REAL_PRECISION, 3 * C), k = each(batch, K, REAL_PRECISION, 3 * C);
        Matrix v = each(batch, V, REAL_PRECISION, 3 * C), dy = each(batch, OUT, REAL_PRECISION, C);
        Matrix dq = each(batch, DQ, REAL_PRECISION, 3 * C),
               dk = each(batch, DK, REAL_PRECISION, 3 * C);
        Matrix dv = each(batch, DV, REAL_PRECISION, 3 * C);
        /* a row of scores' gradients takes up the room of T floats */
        Matrix dscore =
            each(batch, SQUARES, REAL_PRECISION, (int)(T * sizeof(float) / sizeof(Real)));

        /* dv = probs^T dout, dprobs = dout v^T */
        gemm(dv, 1, transpose(each(batch, PROBS, REAL_PRECISION, T)), dy, 0, T, HS, T, batch.heads,
             workspace);
        gemm(each(batch, SQUARES, F32, T), 1, dy, transpose(v), 0, T, T, HS, batch.heads,
             workspace);
        attention_backward_softmax_kernel<<<blocks_for(rows, WARPS), THREADS>>>(batch.square, p,
                                                                                rows, T);
        LAUNCHED("attention_backward");
        /* dq = dscore k / sqrt(HS), dk = dscore^T q / sqrt(HS) */
        gemm(dq, scale, dscore, k, 0, T, HS, T, batch.heads, workspace);
        gemm(dk, scale, transpose(dscore), q, 0, T, HS, T, batch.heads, workspace);
    }
}
