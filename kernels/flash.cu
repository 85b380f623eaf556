/* Attention in tiles on the GPU: the (T, T) scores exist 64 x 64 at a time, in registers. The
   contract is in flash.h, the C twin is flash.c. All arithmetic is in float; where numbers are
   stored in two bytes and tensor cores can take them, flash_tensor.cu does the work. */
#include "kernels/flash.h"

#include "kernels/flash_head.cuh"

/* How threads map to data. A block takes TILE rows of one head: queries, or in one kernel keys. It
   walks along the tiles of the other side, and every step is a product of two tiles.

   Its 256 threads form a square of 16 x 16. Thread (y, x) computes 4 x 4 numbers of each product:
   rows y, y + 16, y + 32, y + 48 and the same columns of x. They stay in its registers; sums over a
   row are sums over the 16 threads of one y, which are half a warp. Rows of a head are longer than
   a tile if HS > 64: they are cut into CHUNKS pieces. Each kernel exists for 1 and for 2 of them,
   since a thread keeps its part of each piece in registers, needed or not. Tiles are padded with
   zeros at the edges. */

enum { TILE = 64, SIDE = 16, EACH = TILE / SIDE, THREADS = SIDE * SIDE };
enum { MOST_CHUNKS = 2, LARGEST_HEAD = MOST_CHUNKS * TILE };
/* Blocks that are to fit on a multiprocessor: while one waits for memory or at a barrier, the other
   works. It holds the compiler to 128 registers a thread, which is too few for backward's sums of
   two chunks. */
enum { RESIDENT = 2 };

/* Two tiles in shared memory, the factors of a product. A warp reads two rows of `left` at once: 16
   more columns put them into different halves of the 32 banks. Of `right` it reads 16 rows at once:
   with one more column each begins in another bank. */
typedef struct Tiles {
    float left[TILE][TILE + 16], right[TILE][TILE + 1];
} Tiles;

static __device__ inline int thread_y(void) {
    return threadIdx.x / SIDE;
}
static __device__ inline int thread_x(void) {
    return threadIdx.x % SIDE;
}

/* Number (row, i) of a head, 0 outside. */
static __device__ inline float head_at(HeadView head, int row, int i) {
    return row < head.T && i < head.HS ? to_float(head.x[(size_t)row * head.stride + i]) : 0;
}

/* Both factors of a product from memory: rows of `a` to the left, of `b` to the right, a chunk of
   each. The barriers: no thread may still read the old tiles, and all must have written the new. */
static __device__ void load(Tiles *tiles, HeadView a, int a_row, HeadView b, int b_row, int chunk) {
    __syncthreads();
    for (int at = threadIdx.x; at < TILE * TILE; at += THREADS) {
        int row = at / TILE, i = at % TILE;
        tiles->left[row][i] = head_at(a, a_row + row, chunk * TILE + i);
        tiles->right[row][i] = head_at(b, b_row + row, chunk * TILE + i);
    }
    __syncthreads();
}

/* The same with numbers of the threads' registers to the left. */
static __device__ void load_right(Tiles *tiles, const float x[EACH][EACH], HeadView b, int b_row,
                                  int chunk) {
    __syncthreads();
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            tiles->left[thread_y() + SIDE * i][thread_x() + SIDE * j] = x[i][j];
        }
    }
    for (int at = threadIdx.x; at < TILE * TILE; at += THREADS) {
        tiles->right[at / TILE][at % TILE] =
            head_at(b, b_row + at / TILE, chunk * TILE + at % TILE);
    }
    __syncthreads();
}

/* sum += left right^T, over `depth` columns of both. */
static __device__ void add_dots(float sum[EACH][EACH], const Tiles *tiles, int depth) {
    for (int k = 0; k < depth; k++) {
        float a[EACH], b[EACH];
        for (int i = 0; i < EACH; i++) {
            a[i] = tiles->left[thread_y() + SIDE * i][k];
            b[i] = tiles->right[thread_x() + SIDE * i][k];
        }
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH; j++) {
                sum[i][j] += a[i] * b[j];
            }
        }
    }
}

/* sum += left right. */
static __device__ void add_product(float sum[EACH][EACH], const Tiles *tiles) {
    for (int k = 0; k < TILE; k++) {
        float a[EACH], b[EACH];
        for (int i = 0; i < EACH; i++) {
            a[i] = tiles->left[thread_y() + SIDE * i][k];
            b[i] = tiles->right[k][thread_x() + SIDE * i];
        }
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH; j++) {
                sum[i][j] += a[i] * b[j];
            }
        }
    }
}

/* dots = a b^T for a tile of rows of each, over whole heads. */
static __device__ void head_dots(float dots[EACH][EACH], Tiles *tiles, HeadView a, int a_row,
                                 HeadView b, int b_row) {
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            dots[i][j] = 0;
        }
    }
    for (int first = 0; first < a.HS; first += TILE) {
        load(tiles, a, a_row, b, b_row, first / TILE);
        add_dots(dots, tiles, min(TILE, a.HS - first));
    }
}

/* sum += x b for a tile of rows of b; sum is cut into chunks like the rows of b. */
template <int CHUNKS>
static __device__ void head_product(float (&sum)[CHUNKS][EACH][EACH], Tiles *tiles,
                                    const float x[EACH][EACH], HeadView b, int b_row) {
#pragma unroll /* else the compiler keeps `sum` in memory: registers cannot be indexed */
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        if (chunk * TILE < b.HS) {
            load_right(tiles, x, b, b_row, chunk);
            add_product(sum[chunk], tiles);
        }
    }
}

/* Sum and maximum over the 16 threads of one row of the square. */
static __device__ inline float row_sum(float x) {
    for (int distance = SIDE / 2; distance > 0; distance /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, distance);
    }
    return x;
}
static __device__ inline float row_max(float x) {
    for (int distance = SIDE / 2; distance > 0; distance /= 2) {
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, distance));
    }
    return x;
}

static __device__ inline void head_write(HeadView head, int row, int i, float x) {
    if (row < head.T && i < head.HS) {
        head.x[(size_t)row * head.stride + i] = real(x);
    }
}

/* A tile of rows of a head = factor * sum. */
template <int CHUNKS>
static __device__ void head_store(HeadView head, int first, const float (&sum)[CHUNKS][EACH][EACH],
                                  float factor) {
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH; j++) {
                int row = first + thread_y() + SIDE * i;
                int col = chunk * TILE + thread_x() + SIDE * j;
                head_write(head, row, col, factor * sum[chunk][i][j]);
            }
        }
    }
}

/* Results of forward for the rows of a tile of queries. */
typedef struct FlashRows {
    float lse[TILE];   /* log of the sum of exponentials */
    float delta[TILE]; /* sum_r probs[t][r] * dprobs[t][r] */
} FlashRows;

/* Fills rows, 0 beyond the last one; a warp takes every eighth. No barrier. */
static __device__ void load_rows(FlashRows *rows, const float *lse, HeadView dy, HeadView y,
                                 int first) {
    enum { WARP = 32 };
    const float *lse_of_head = lse + ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * y.T;
    int lane = threadIdx.x % WARP;
    for (int row = threadIdx.x / WARP; row < TILE; row += THREADS / WARP) {
        float sum = 0;
        /* delta[t] = sum_i dout[t][i] * out[t][i] */
        for (int i = lane; i < y.HS; i += WARP) {
            sum += head_at(dy, first + row, i) * head_at(y, first + row, i);
        }
        sum = warp_sum(sum);
        if (lane == 0) {
            rows->lse[row] = first + row < y.T ? lse_of_head[first + row] : 0;
            rows->delta[row] = sum;
        }
    }
}

/* One tile's part of the online softmax, for one row of the square: scores become exponentials
   relative to the largest score so far. Returns by what earlier sums must shrink. */
static __device__ float online_softmax(float p[EACH], float *largest, float *total) {
    float max = *largest, sum = 0;
    for (int j = 0; j < EACH; j++) {
        max = fmaxf(max, p[j]);
    }
    max = row_max(max);
    for (int j = 0; j < EACH; j++) {
        p[j] = expf(p[j] - max);
        sum += p[j];
    }
    float shrink = expf(*largest - max);
    *total = *total * shrink + row_sum(sum);
    *largest = max;
    return shrink;
}

/* The largest score of a row is known only after the last tile. Until then sums are relative to the
   largest so far, and shrink when a larger one appears. The first tile has key 0, which every query
   sees: so from there on `largest` is a number. */
template <int CHUNKS>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    flash_forward_kernel(Real *out, float *lse, const Real *qkv, int T, int C, int NH) {
    __shared__ Tiles tiles;
    HeadView q = head_of(qkv, 3, 0, T, C, NH), k = head_of(qkv, 3, 1, T, C, NH);
    HeadView v = head_of(qkv, 3, 2, T, C, NH), y = head_of(out, 1, 0, T, C, NH);
    float scale = 1 / sqrtf(q.HS);
    /* Late queries see the most keys. Those of all heads begin first, so that no long block is left
       for last. */
    int first_t = (gridDim.z - 1 - blockIdx.z) * TILE;
    float sum[CHUNKS][EACH][EACH] = {}, total[EACH] = {}, largest[EACH];
    for (int i = 0; i < EACH; i++) {
        largest[i] = -INFINITY;
    }
    for (int first_s = 0; first_s <= first_t; first_s += TILE) {
        float p[EACH][EACH];
        /* score = q k^T, then its part of the softmax */
        head_dots(p, &tiles, q, first_t, k, first_s);
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH; j++) {
                int t = first_t + thread_y() + SIDE * i, s = first_s + thread_x() + SIDE * j;
                p[i][j] = s <= t ? p[i][j] * scale : -INFINITY;
            }
            float shrink = online_softmax(p[i], &largest[i], &total[i]);
            for (int chunk = 0; chunk < CHUNKS; chunk++) {
                for (int j = 0; j < EACH; j++) {
                    sum[chunk][i][j] *= shrink;
                }
            }
        }
        /* out[t] += sum over this tile of exp(score - largest) * v[s] */
        head_product(sum, &tiles, p, v, first_s);
    }
    float *lse_of_head = lse + ((size_t)blockIdx.y * NH + blockIdx.x) * T;
    for (int i = 0; i < EACH; i++) {
        int t = first_t + thread_y() + SIDE * i;
        if (t < T && thread_x() == 0) {
            /* kept for backward */
            lse_of_head[t] = largest[i] + logf(total[i]);
        }
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            for (int j = 0; j < EACH; j++) {
                head_write(y, t, chunk * TILE + thread_x() + SIDE * j, sum[chunk][i][j] / total[i]);
            }
        }
    }
}

/* A block has a tile of queries and walks along the keys that they see: dq. */
template <int CHUNKS>
static __global__ void __launch_bounds__(THREADS, RESIDENT / CHUNKS)
    flash_backward_queries_kernel(Real *dqkv, const Real *dout, const Real *out, const float *lse,
                                  const Real *qkv, int T, int C, int NH) {
    __shared__ Tiles tiles;
    __shared__ FlashRows rows;
    HeadView q = head_of(qkv, 3, 0, T, C, NH), k = head_of(qkv, 3, 1, T, C, NH);
    HeadView v = head_of(qkv, 3, 2, T, C, NH), dy = head_of(dout, 1, 0, T, C, NH);
    float scale = 1 / sqrtf(q.HS);
    int first_t = (gridDim.z - 1 - blockIdx.z) * TILE;
    float dq[CHUNKS][EACH][EACH] = {};
    load_rows(&rows, lse, dy, head_of(out, 1, 0, T, C, NH), first_t);
    for (int first_s = 0; first_s <= first_t; first_s += TILE) {
        float p[EACH][EACH], dscore[EACH][EACH];
        /* score = q k^T, dprobs = dout v^T */
        head_dots(p, &tiles, q, first_t, k, first_s);
        head_dots(dscore, &tiles, dy, first_t, v, first_s);
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH; j++) {
                int row = thread_y() + SIDE * i, col = thread_x() + SIDE * j;
                /* probs = exp(score - lse), dscore = probs * (dprobs - delta) */
                bool visible = first_s + col <= first_t + row;
                p[i][j] = visible ? expf(p[i][j] * scale - rows.lse[row]) : 0;
                dscore[i][j] = p[i][j] * (dscore[i][j] - rows.delta[row]);
            }
        }
        /* dq += dscore k, / sqrt(HS) at the end */
        head_product(dq, &tiles, dscore, k, first_s);
    }
    head_store(head_of(dqkv, 3, 0, T, C, NH), first_t, dq, scale);
}

/* A block has a tile of keys and walks along the queries that see them: dk and dv. Here a row of
   the square is a key, a column a query. No two blocks have the same row, so nothing is atomic. */
template <int CHUNKS>
static __global__ void __launch_bounds__(THREADS, RESIDENT / CHUNKS)
    flash_backward_keys_kernel(Real *dqkv, const Real *dout, const Real *out, const float *lse,
                               const Real *qkv, int T, int C, int NH) {
    __shared__ Tiles tiles;
    __shared__ FlashRows rows;
    HeadView q = head_of(qkv, 3, 0, T, C, NH), k = head_of(qkv, 3, 1, T, C, NH);
    HeadView v = head_of(qkv, 3, 2, T, C, NH), dy = head_of(dout, 1, 0, T, C, NH);
    float scale = 1 / sqrtf(q.HS);
    int first_s = blockIdx.z * TILE;
    float dk[CHUNKS][EACH][EACH] = {}, dv[CHUNKS][EACH][EACH] = {};
    for (int first_t = first_s; first_t < T; first_t += TILE) {
        float p[EACH][EACH], dscore[EACH][EACH];
        load_rows(&rows, lse, dy, head_of(out, 1, 0, T, C, NH), first_t);
        /* the same, transposed: score^T = k q^T, dprobs^T = v dout^T */
        head_dots(p, &tiles, k, first_s, q, first_t);
        head_dots(dscore, &tiles, v, first_s, dy, first_t);
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH; j++) {
                int row = thread_y() + SIDE * i, col = thread_x() + SIDE * j;
                bool visible = first_s + row <= first_t + col;
                p[i][j] = visible ? expf(p[i][j] * scale - rows.lse[col]) : 0;
                dscore[i][j] = p[i][j] * (dscore[i][j] - rows.delta[col]);
            }
        }
        /* dv += probs^T dout, dk += dscore^T q */
        head_product(dv, &tiles, p, dy, first_t);
        head_product(dk, &tiles, dscore, q, first_t);
    }
    head_store(head_of(dqkv, 3, 1, T, C, NH), first_s, dk, scale);
    head_store(head_of(dqkv, 3, 2, T, C, NH), first_s, dv, 1);
}

/* A block for each tile of rows, head and sequence. */
static dim3 grid_of(int B, int T, int C, int NH) {
    CHECK(C % NH == 0, "C = %d is not a multiple of NH = %d", C, NH);
    CHECK(C / NH <= LARGEST_HEAD, "heads of %d elements, at most %d fit", C / NH, LARGEST_HEAD);
    return dim3(NH, B, blocks_for(T, TILE));
}

template <int CHUNKS>
static void backward(dim3 grid, Real *dqkv, const Real *dout, const Real *out, const float *lse,
                     const Real *qkv, int T, int C, int NH) {
    flash_backward_queries_kernel<CHUNKS><<<grid, THREADS>>>(dqkv, dout, out, lse, qkv, T, C, NH);
    LAUNCHED("flash_backward");
    flash_backward_keys_kernel<CHUNKS><<<grid, THREADS>>>(dqkv, dout, out, lse, qkv, T, C, NH);
    LAUNCHED("flash_backward");
}

extern "C" void GPU(flash_forward)(Real *out, float *lse, const Real *qkv, int B, int T, int C,
                                   int NH, const Workspace *) {
    dim3 grid = grid_of(B, T, C, NH);
    if (B > 0 && T > 0 && !GPU(flash_tensor_forward)(out, lse, qkv, B, T, C, NH)) {
        if (C / NH <= TILE) {
            flash_forward_kernel<1><<<grid, THREADS>>>(out, lse, qkv, T, C, NH);
        } else {
            flash_forward_kernel<2><<<grid, THREADS>>>(out, lse, qkv, T, C, NH);
        }
        LAUNCHED("flash_forward");
    }
}

extern "C" void GPU(flash_backward)(Real *dqkv, const Real *dout, const Real *out, const float *lse,
                                    const Real *qkv, int B, int T, int C, int NH,
                                    const Workspace *workspace) {
    dim3 grid = grid_of(B, T, C, NH);
    if (B > 0 && T > 0 &&
        !GPU(flash_tensor_backward)(dqkv, dout, out, lse, qkv, B, T, C, NH, workspace)) {
        if (C / NH <= TILE) {
            backward<1>(grid, dqkv, dout, out, lse, qkv, T, C, NH);
        } else {
            backward<2>(grid, dqkv, dout, out, lse, qkv, T, C, NH);
        }
    }
}
