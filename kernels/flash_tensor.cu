/* Flash attention on tensor cores, for numbers of two bytes: what flash.cu does, in products of
   16 x 16 numbers that are summed in float. The contract is in flash.h, the C twin is flash.c. */
#include "kernels/flash.h"

#include <math_constants.h>

#include "kernels/flash_head.cuh"

#if defined REAL_F16 || defined REAL_BF16

#include "kernels/flash_tiles.cuh"

/* How threads map to data. As in flash.cu, a block takes rows of one head, queries or in one kernel
   keys, and walks along the rows of the other side, STEP at a time. Both lie in shared memory as
   they are stored, in two bytes. A warp has 16 of the block's rows, and multiplies them by the STEP
   others. While they are multiplied, the next STEP rows are on their way to a second place.

   Between two products a lane takes half a row of the sums, in float (flash_tiles.cuh). What
   becomes of them is rounded to the storage type for the next one: the one rounding more than in
   flash.cu.

   Heads are padded with zeros to HEAD numbers. All of them are multiplied: loops without a branch
   cost less than the products that shorter heads could leave out. */

enum { SMALL_HEAD = 64, LARGEST_HEAD = 128 };

/* Rows of all heads before the block's: where its lse and delta begin. */
static __device__ inline size_t rows_before(int T) {
    return ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * T;
}

/* ---- forward --------------------------------------------------------------------------------- */

enum {
    FORWARD_WARPS = 4,
    FORWARD_ROWS = FORWARD_WARPS * SIDE,
    FORWARD_THREADS = FORWARD_WARPS * WARP
};

/* RESIDENT blocks are to fit on a multiprocessor: the compiler is held to registers for them. */
template <int HEAD> struct ForwardTiles {
    enum { RESIDENT = HEAD == SMALL_HEAD ? 5 : 3 };
    union {
        Rows<FORWARD_ROWS, HEAD> q;
        Pair<STEP, HEAD> keys[2]; /* when the queries are in registers */
    };
    Scratch scratch[FORWARD_WARPS];
};

/* As in flash.cu, scores become exponentials relative to the largest score so far, or to one that
   is smaller by at most SLACK: 2^SLACK fits into f16, and sums seldom have to shrink. Returns by
   what they must. Scores come as dot products x, and exp(scale * x) = 2^(factor * x): one
   multiply-add for each. */
enum { SLACK = 10 };
static __device__ float online_softmax(float p[EACH], float factor, float *largest, float *total) {
    float max = -INFINITY, sum = 0;
    for (int j = 0; j < EACH; j++) {
        max = fmaxf(max, p[j]);
    }
    max = fmaxf(max, __shfl_xor_sync(ALL_LANES, max, 1));
    max = (max - *largest) * factor > SLACK ? max : *largest;
    float power = max * factor;
    for (int j = 0; j < EACH; j++) {
        p[j] = exp2f(p[j] * factor - power);
        sum += p[j];
    }
    float shrink = exp2f(*largest * factor - power);
    *total = *total * shrink + row_sum(sum);
    *largest = max;
    return shrink;
}

/* Multiplies each row of the sums by its factor, that of the lane's row. Two fragments of one type
   have the same number in the same place, whichever that is (NVIDIA's sample simpleWMMA counts on
   it too), so the factors are made a fragment. */
template <int HEAD>
static __device__ void scale_rows(Sums (&sums)[HEAD / SIDE], Scratch *scratch, float of_row) {
    Sums factor;
    __syncwarp();
    for (int j = 0; j < SIDE / 2; j += FOUR) {
        *(float4 *)&scratch->sums[lane_row()][lane_column(j)] =
            make_float4(of_row, of_row, of_row, of_row);
    }
    __syncwarp();
    wmma::load_matrix_sync(factor, &scratch->sums[0][0], WIDTH, wmma::mem_row_major);
    for (int i = 0; i < HEAD / SIDE; i++) {
        for (int e = 0; e < factor.num_elements; e++) {
            sums[i].x[e] *= factor.x[e];
        }
    }
}

template <int HEAD>
static __global__ void __launch_bounds__(FORWARD_THREADS, ForwardTiles<HEAD>::RESIDENT)
    flash_tensor_forward_kernel(Real *out, float *lse, const Real *qkv, int T, int C, int NH) {
    __shared__ ForwardTiles<HEAD> tiles;
    HeadView q = head_of(qkv, 3, 0, T, C, NH), k = head_of(qkv, 3, 1, T, C, NH);
    HeadView v = head_of(qkv, 3, 2, T, C, NH), y = head_of(out, 1, 0, T, C, NH);
    float scale = 1 / sqrtf(q.HS), factor = scale * CUDART_L2E_F, total = 0, largest = -INFINITY;
    /* Late queries see the most keys. Those of all heads begin first, so that no long block is left
       for last. */
    int first_t = (gridDim.z - 1 - blockIdx.z) * FORWARD_ROWS, row = warp_of_thread() * SIDE;
    int t = first_t + row + lane_row();
    Scratch *scratch = &tiles.scratch[warp_of_thread()];
    Sums sums[HEAD / SIDE];
    clear<HEAD>(sums);
    Left queries[HEAD / SIDE];
    load<FORWARD_THREADS>(&tiles.q, q, first_t);
    arrive();
    own_rows(queries, &tiles.q, row);
    __syncthreads();
    int end = min(first_t + FORWARD_ROWS, T);
    load<FORWARD_THREADS>(&tiles.keys[0], k, v, 0);
    for (int first_s = 0, n = 0; first_s < end; first_s += STEP, n = 1 - n) {
        const Pair<STEP, HEAD> *keys = &tiles.keys[n];
        arrive();
        if (first_s + STEP < end) {
            load<FORWARD_THREADS>(&tiles.keys[1 - n], k, v, first_s + STEP);
        }
        if (first_s < first_t + row + SIDE) { /* else no row of the warp sees these keys */
            float p[EACH];
            /* score = q k^T, then its part of the softmax */
            dots<HEAD>(scratch, queries, &keys->a);
            lane_read(p, scratch);
            if (first_s + STEP > first_t + row + 1) { /* else every row sees all these keys */
                for (int j = 0; j < EACH; j++) {
                    p[j] = first_s + lane_column(j) <= t ? p[j] : -INFINITY;
                }
            }
            float shrink = online_softmax(p, factor, &largest, &total);
            if (__any_sync(ALL_LANES, shrink != 1)) {
                scale_rows<HEAD>(sums, scratch, shrink);
            }
            __syncwarp();
            /* out[t] += sum over this tile of exp(score - largest) * v[s] */
            lane_write(scratch->left[0], p);
            __syncwarp();
            add_product<HEAD>(sums, scratch->left[0], &keys->b);
        }
    }
    if (t < T && threadIdx.x % 2 == 0) {
        /* kept for backward */
        lse[rows_before(T) + t] = largest * scale + logf(total);
    }
    store<HEAD>(y, first_t + row, sums, scratch, 1 / total);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Blocks that are to fit on a multiprocessor: that many do by their shared memory, and the compiler
   is held to registers for them. */
enum { RESIDENT = 4 };

/* Fewer rows of long heads: what a block needs must fit into the 48 KiB of shared memory that every
   GPU gives it. */
template <int HEAD> struct Backward {
    enum { WARPS = 4 * SMALL_HEAD / HEAD, ROWS = WARPS * SIDE, THREADS = WARPS * WARP };
};

/* Results of forward for one query: the log of the sum of exponentials, and
   delta = sum_r probs[t][r] * dprobs[t][r] = sum_i dout[t][i] * out[t][i]. */
struct Query {
    float lse, delta;
};

/* Both lanes of a row take one query; 0 after the last one. */
static __device__ Query query_of(const float *lse, HeadView dy, HeadView y, int t) {
    Query query = {};
    if (t < y.T) {
        for (int i = threadIdx.x % 2 * PACK; i < y.HS; i += 2 * PACK) {
            float a[PACK], b[PACK];
            load_pack(a, dy.x + (size_t)t * dy.stride + i, PACK);
            load_pack(b, y.x + (size_t)t * y.stride + i, PACK);
            for (int j = 0; j < PACK; j++) {
                query.delta += a[j] * b[j];
            }
        }
        query.lse = lse[rows_before(y.T) + t];
    }
    query.delta = row_sum(query.delta);
    return query;
}

template <int HEAD> struct QueriesTiles {
    union {
        Pair<Backward<HEAD>::ROWS, HEAD> own;
        Pair<STEP, HEAD> keys[2]; /* when the block's own rows are in registers */
    };
    Scratch scratch[Backward<HEAD>::WARPS];
};

/* A block has a tile of queries and walks along the keys that they see: dq. It leaves the queries'
   delta for the other kernel, where every tile of keys needs them. */
template <int HEAD>
static __global__ void __launch_bounds__(Backward<HEAD>::THREADS, RESIDENT)
    flash_tensor_backward_queries_kernel(Real *dqkv, float *delta, const Real *dout,
                                         const Real *out, const float *lse, const Real *qkv, int T,
                                         int C, int NH) {
    enum { ROWS = Backward<HEAD>::ROWS, THREADS = Backward<HEAD>::THREADS };
    __shared__ QueriesTiles<HEAD> tiles;
    HeadView q = head_of(qkv, 3, 0, T, C, NH), k = head_of(qkv, 3, 1, T, C, NH);
    HeadView v = head_of(qkv, 3, 2, T, C, NH), dy = head_of(dout, 1, 0, T, C, NH);
    float scale = 1 / sqrtf(q.HS);
    int first_t = (gridDim.z - 1 - blockIdx.z) * ROWS, row = warp_of_thread() * SIDE;
    int t = first_t + row + lane_row();
    Query query = query_of(lse, dy, head_of(out, 1, 0, T, C, NH), t);
    if (t < T && threadIdx.x % 2 == 0) {
        delta[rows_before(T) + t] = query.delta;
    }
    Scratch *scratch = &tiles.scratch[warp_of_thread()];
    Sums dq[HEAD / SIDE];
    clear<HEAD>(dq);
    Left queries[HEAD / SIDE], gradients[HEAD / SIDE];
    load<THREADS>(&tiles.own, q, dy, first_t);
    arrive();
    own_rows(queries, &tiles.own.a, row);
    own_rows(gradients, &tiles.own.b, row);
    __syncthreads();
    int end = min(first_t + ROWS, T);
    load<THREADS>(&tiles.keys[0], k, v, 0);
    for (int first_s = 0, n = 0; first_s < end; first_s += STEP, n = 1 - n) {
        const Pair<STEP, HEAD> *keys = &tiles.keys[n];
        arrive();
        if (first_s + STEP < end) {
            load<THREADS>(&tiles.keys[1 - n], k, v, first_s + STEP);
        }
        if (first_s < first_t + row + SIDE) { /* else no row of the warp sees these keys */
            float p[EACH], dscore[EACH];
            /* score = q k^T, dprobs = dout v^T */
            dots<HEAD>(scratch, queries, &keys->a);
            lane_read(p, scratch);
            dots<HEAD>(scratch, gradients, &keys->b);
            lane_read(dscore, scratch);
            /* probs = exp(score - lse), dscore = probs * (dprobs - delta) */
            for (int j = 0; j < EACH; j++) {
                p[j] = __expf(p[j] * scale - query.lse);
            }
            if (first_s + STEP > first_t + row + 1) { /* else every row sees all these keys */
                for (int j = 0; j < EACH; j++) {
                    p[j] = first_s + lane_column(j) <= t ? p[j] : 0;
                }
            }
            for (int j = 0; j < EACH; j++) {
                dscore[j] = p[j] * (dscore[j] - query.delta);
            }
            __syncwarp();
            /* dq += dscore k, / sqrt(HS) at the end */
            lane_write(scratch->left[0], dscore);
            __syncwarp();
            add_product<HEAD>(dq, scratch->left[0], &keys->a);
        }
    }
    store<HEAD>(head_of(dqkv, 3, 0, T, C, NH), first_t + row, dq, scratch, scale);
}

template <int HEAD> struct KeysTiles {
    /* The next rows are loaded ahead where memory is left for them. */
    enum { AHEAD = HEAD == SMALL_HEAD, BUFFERS = 1 + AHEAD };
    Pair<Backward<HEAD>::ROWS, HEAD> own;
    Pair<STEP, HEAD> queries[BUFFERS];
    float lse[BUFFERS][STEP], delta[BUFFERS][STEP];
    Scratch scratch[Backward<HEAD>::WARPS];
};

/* Begins to copy queries, from `first` on, into place n. */
template <int HEAD>
static __device__ void load_queries(KeysTiles<HEAD> *tiles, int n, HeadView q, HeadView dy,
                                    const float *lse, const float *delta, int first) {
    load<Backward<HEAD>::THREADS>(&tiles->queries[n], q, dy, first);
    int i = threadIdx.x;
    if (i < STEP) {
        bool inside = first + i < q.T;
        int t = inside ? first + i : 0, zeros = inside ? 0 : sizeof(float);
        __pipeline_memcpy_async(&tiles->lse[n][i], lse + t, sizeof(float), zeros);
        __pipeline_memcpy_async(&tiles->delta[n][i], delta + t, sizeof(float), zeros);
    }
}

/* A block has a tile of keys and walks along the queries that see them: dk and dv. Here a row is a
   key, a column a query. No two blocks add to the same row, so nothing is atomic. */
template <int HEAD>
static __global__ void __launch_bounds__(Backward<HEAD>::THREADS, RESIDENT)
    flash_tensor_backward_keys_kernel(Real *dqkv, const float *delta, const Real *dout,
                                      const float *lse, const Real *qkv, int T, int C, int NH) {
    enum { ROWS = Backward<HEAD>::ROWS, THREADS = Backward<HEAD>::THREADS };
    enum { AHEAD = KeysTiles<HEAD>::AHEAD };
    __shared__ KeysTiles<HEAD> tiles;
    HeadView q = head_of(qkv, 3, 0, T, C, NH), k = head_of(qkv, 3, 1, T, C, NH);
    HeadView v = head_of(qkv, 3, 2, T, C, NH), dy = head_of(dout, 1, 0, T, C, NH);
    float scale = 1 / sqrtf(q.HS);
    int first_s = blockIdx.z * ROWS, row = warp_of_thread() * SIDE;
    int s = first_s + row + lane_row();
    Scratch *scratch = &tiles.scratch[warp_of_thread()];
    Sums dk[HEAD / SIDE], dv[HEAD / SIDE];
    clear<HEAD>(dk);
    clear<HEAD>(dv);
    lse += rows_before(T), delta += rows_before(T);
    load<THREADS>(&tiles.own, k, v, first_s);
    if (AHEAD) {
        load_queries(&tiles, 0, q, dy, lse, delta, first_s);
    }
    for (int first_t = first_s, n = 0; first_t < T; first_t += STEP, n = AHEAD - n) {
        if (!AHEAD) {
            __syncthreads();
            load_queries(&tiles, 0, q, dy, lse, delta, first_t);
        }
        arrive();
        if (AHEAD && first_t + STEP < T) {
            load_queries(&tiles, 1 - n, q, dy, lse, delta, first_t + STEP);
        }
        const Pair<STEP, HEAD> *queries = &tiles.queries[n];
        if (first_s + row < first_t + STEP) { /* else no query sees the warp's keys */
            float p[EACH], dscore[EACH];
            /* the same, transposed: score^T = k q^T, dprobs^T = v dout^T */
            dots(scratch, &tiles.own.a, row, &queries->a);
            lane_read(p, scratch);
            dots(scratch, &tiles.own.b, row, &queries->b);
            lane_read(dscore, scratch);
            for (int j = 0; j < EACH; j++) {
                p[j] = __expf(p[j] * scale - tiles.lse[n][lane_column(j)]);
            }
            if (first_s + row + SIDE > first_t + 1) { /* else every query sees all these keys */
                for (int j = 0; j < EACH; j++) {
                    p[j] = s <= first_t + lane_column(j) ? p[j] : 0;
                }
            }
            for (int j = 0; j < EACH; j++) {
                dscore[j] = p[j] * (dscore[j] - tiles.delta[n][lane_column(j)]);
            }
            __syncwarp();
            /* dv += probs^T dout, dk += dscore^T q */
            lane_write(scratch->left[0], p);
            lane_write(scratch->left[1], dscore);
            __syncwarp();
            add_product<HEAD>(dv, scratch->left[0], &queries->b);
            add_product<HEAD>(dk, scratch->left[1], &queries->a);
        }
    }
    store<HEAD>(head_of(dqkv, 3, 1, T, C, NH), first_s + row, dk, scratch, scale);
    store<HEAD>(head_of(dqkv, 3, 2, T, C, NH), first_s + row, dv, scratch, 1);
}

/* ---- launchers ------------------------------------------------------------------------------- */

/* Rows of a head must begin at multiples of 16 bytes, and the code must be one for tensor cores. */
static bool serves(int HS) {
    cudaFuncAttributes code;
    cudaError_t error = cudaFuncGetAttributes(&code, flash_tensor_forward_kernel<SMALL_HEAD>);
    CHECK(error == cudaSuccess, "flash_tensor: %s", cudaGetErrorString(error));
    return HS % PACK == 0 && HS <= LARGEST_HEAD && code.ptxVersion >= 80;
}

template <int HEAD>
static void forward(Real *out, float *lse, const Real *qkv, int B, int T, int C, int NH) {
    dim3 grid(NH, B, blocks_for(T, FORWARD_ROWS));
    flash_tensor_forward_kernel<HEAD><<<grid, FORWARD_THREADS>>>(out, lse, qkv, T, C, NH);
    LAUNCHED("flash_forward");
}

/* As many sequences at once as the workspace holds delta for. */
template <int HEAD>
static void backward(Real *dqkv, const Real *dout, const Real *out, const float *lse,
                     const Real *qkv, int B, int T, int C, int NH, const Workspace *workspace) {
    enum { THREADS = Backward<HEAD>::THREADS };
    float *delta = (float *)workspace->data;
    size_t one = flash_scratch_gpu(T, NH), most = workspace->bytes / one;
    CHECK(most > 0, "workspace of %zu bytes, needs %zu", workspace->bytes, one);
    for (int b = 0, count; b < B; b += count) {
        count = (size_t)(B - b) < most ? B - b : (int)most;
        size_t row = (size_t)b * T;
        Real *dx = dqkv + row * 3 * C;
        const Real *x = qkv + row * 3 * C, *dy = dout + row * C, *y = out + row * C;
        const float *l = lse + row * NH;
        dim3 grid(NH, count, blocks_for(T, Backward<HEAD>::ROWS));
        flash_tensor_backward_queries_kernel<HEAD>
            <<<grid, THREADS>>>(dx, delta, dy, y, l, x, T, C, NH);
        LAUNCHED("flash_backward");
        flash_tensor_backward_keys_kernel<HEAD><<<grid, THREADS>>>(dx, delta, dy, l, x, T, C, NH);
        LAUNCHED("flash_backward");
    }
}

extern "C" bool GPU(flash_tensor_forward)(Real *out, float *lse, const Real *qkv, int B, int T,
                                          int C, int NH) {
    int HS = C / NH;
    if (!serves(HS)) {
        return false;
    }
    if (HS <= SMALL_HEAD) {
        forward<SMALL_HEAD>(out, lse, qkv, B, T, C, NH);
    } else {
        forward<LARGEST_HEAD>(out, lse, qkv, B, T, C, NH);
    }
    return true;
}

extern "C" bool GPU(flash_tensor_backward)(Real *dqkv, const Real *dout, const Real *out,
                                           const float *lse, const Real *qkv, int B, int T, int C,
                                           int NH, const Workspace *workspace) {
    int HS = C / NH;
    if (!serves(HS)) {
        return false;
    }
    if (HS <= SMALL_HEAD) {
        backward<SMALL_HEAD>(dqkv, dout, out, lse, qkv, B, T, C, NH, workspace);
    } else {
        backward<LARGEST_HEAD>(dqkv, dout, out, lse, qkv, B, T, C, NH, workspace);
    }
    return true;
}

#else

/* Tensor cores multiply no floats. */
extern "C" bool GPU(flash_tensor_forward)(Real *, float *, const Real *, int, int, int, int) {
    return false;
}
extern "C" bool GPU(flash_tensor_backward)(Real *, const Real *, const Real *, const float *,
                                           const Real *, int, int, int, int, const Workspace *) {
    return false;
}

#endif
