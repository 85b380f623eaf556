/* Token plus position embedding on the GPU, without atomics. The contract is in embedding.h, the C
   twin is embedding.c. */
#include "kernels/embedding.h"

#include "kernels/real.cuh"

/* How threads map to data.

   forward: `width` neighbours of one row, PACK of them in one 16-byte access. Where C is not
   a multiple of PACK, rows do not begin at multiples of 16 bytes; there the width is 1.

   backward, tokens: a block per position (b, t). Positions that hold the same token add to the
   same row, so they share out its channels, in spans of a warp's 32 * WIDTH: of n positions,
   the block of the k-th one (from 0 on) takes the spans k, k + n, k + 2 n, ... and adds the
   rows of all n there. A token that occurs once has one block for its row; one that is
   everywhere has a block for each span. Every number has one thread that adds to it, in an
   order that the tokens fix: no atomics on floats, and the same bits every time.

   backward, positions: a thread per element of dwpe, which it alone adds to. */

enum {
    THREADS = 256,
    WARP = 32,
    WARPS = THREADS / WARP,
    ROWS = 4, /* that a warp has on their way at once */
    EACH = 4, /* channels of a thread in a row that it adds alone, likewise */
};
#define ALL_LANES 0xffffffffu

static __global__ void embedding_forward_kernel(Real *out, const int32_t *tokens, const Real *wte,
                                                const Real *wpe, size_t n, int T, int C,
                                                int width) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * width;
    if (first >= n) {
        return;
    }
    int row = (int)(first / C), c = (int)(first % C);
    float x[PACK], position[PACK];
    int token = tokens[row];
    load_pack(x, wte + (size_t)(token < 0 ? 0 : token) * C + c, token < 0 ? 0 : width);
    /* out[b][t][c] = wte[tokens[b][t]][c] + wpe[t][c] */
    if (wpe != NULL) {
        load_pack(position, wpe + (size_t)(row % T) * C + c, width);
        for (int i = 0; i < PACK; i++) {
            x[i] += position[i];
        }
    }
    store_pack(out + first, x, width);
}

/* How many positions hold a token, and how many of those come before a given one. */
struct Holders {
    int all, before;
};

/* Those of the token at `position`; all threads of the block must call, once in a kernel. */
static __device__ inline Holders count_holders(const int32_t *tokens, int positions, int position) {
    __shared__ Holders count;
    int token = tokens[position], all = 0, before = 0;
    if (threadIdx.x == 0) {
        count.all = count.before = 0;
    }
    __syncthreads();
#pragma unroll 8
    for (int at = threadIdx.x; at < positions; at += THREADS) {
        if (tokens[at] == token) {
            all++;
            before += at < position;
        }
    }
    if (all > 0) { /* whole numbers have the same sum in any order */
        atomicAdd(&count.all, all);
        atomicAdd(&count.before, before);
    }
    __syncthreads();
    return count;
}

/* to[c] += row[c] for all channels, EACH of a thread on their way at once. */
static __device__ inline void add_row(float *to, const Real *row, int C) {
    for (int first = threadIdx.x; first < C; first += THREADS * EACH) {
        float sum[EACH];
        for (int i = 0; i < EACH; i++) {
            int c = first + i * THREADS;
            sum[i] = c < C ? to[c] + to_float(row[c]) : 0;
        }
        for (int i = 0; i < EACH; i++) {
            int c = first + i * THREADS;
            if (c < C) {
                to[c] = sum[i];
            }
        }
    }
}

/* sum[] += WIDTH neighbours of some rows, one row after the other, ROWS of them on their way at
   once. */
template <int WIDTH>
static __device__ inline void add_rows(float sum[PACK], const Real *dout, const int *position,
                                       int count, int C) {
#pragma unroll ROWS
    for (int k = 0; k < count; k++) {
        float x[PACK];
        load_pack(x, dout + (size_t)position[k] * C, WIDTH);
        for (int i = 0; i < WIDTH; i++) {
            sum[i] += x[i];
        }
    }
}

/* to[c] += the rows of all positions that hold `token`, in the span of channels from `first`
   on. Each warp lists and adds up those of every WARPS-th 32 positions; then the warps' sums
   are added in their order. Lanes beyond C take the last channels once more, for sums that
   nobody reads. */
template <int WIDTH>
static __device__ inline void add_span(float *to, const Real *dout, const int32_t *tokens,
                                       int token, int positions, int first, int C) {
    __shared__ int lists[WARPS][2 * WARP];
    /* number i of each lane in a row; rows so far apart that channels lie in different banks too */
    enum { ROW = WARP + WARP / WIDTH };
    __shared__ float sums[WARPS][WIDTH * ROW];
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, listed = 0, *list = lists[warp];
    const Real *own = dout + min(first + lane * WIDTH, C - WIDTH);
    float sum[PACK] = {0};
    for (int start = warp * WARP; start < positions; start += THREADS) {
        int at = start + lane;
        bool holds = at < positions && tokens[at] == token;
        unsigned found = __ballot_sync(ALL_LANES, holds);
        if (holds) { /* after those of the lanes below */
            list[listed + __popc(found & ((1u << lane) - 1))] = at;
        }
        listed += __popc(found);
        if (listed > WARP || start + THREADS >= positions) { /* full, or the last */
            __syncwarp();
            add_rows<WIDTH>(sum, own, list, listed, C);
            __syncwarp(); /* the list has been read */
            listed = 0;
        }
    }
    for (int i = 0; i < WIDTH; i++) {
        sums[warp][i * ROW + lane] = sum[i];
    }
    __syncthreads();
    int channel = threadIdx.x, c = first + channel;
    if (channel < WARP * WIDTH && c < C) {
        float total = to[c];
        for (int w = 0; w < WARPS; w++) {
            total += sums[w][channel % WIDTH * ROW + channel / WIDTH];
        }
        to[c] = total;
    }
    __syncthreads(); /* the sums have been read */
}

/* Said the least of blocks that fit on a multiprocessor, the compiler takes the registers for
   ROWS loads at once; left alone, it saves registers and waits after two. Four blocks are all the
   threads that one of sm_75 has: more of them is an error there. */
template <int WIDTH>
static __global__ void __launch_bounds__(THREADS, 4)
    embedding_backward_tokens_kernel(float *dwte, const Real *dout, const int32_t *tokens,
                                     int positions, int C) {
    int position = blockIdx.x, token = tokens[position];
    if (token < 0) {
        return;
    }
    Holders holders = count_holders(tokens, positions, position);
    float *to = dwte + (size_t)token * C;
    /* dwte[token][c] += dout[b][t][c] for every position that holds the token */
    if (holders.all == 1) {
        add_row(to, dout + (size_t)position * C, C);
        return;
    }
    size_t span = WARP * WIDTH;
    for (size_t c = holders.before * span; c < C; c += holders.all * span) {
        add_span<WIDTH>(to, dout, tokens, token, positions, (int)c, C);
    }
}

static __global__ void embedding_backward_positions_kernel(float *dwpe, const Real *dout, int B,
                                                           size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float sum = dwpe[i];
    /* dwpe[t][c] += sum_b dout[b][t][c] */
    for (int b = 0; b < B; b++) {
        sum += to_float(dout[b * n + i]);
    }
    dwpe[i] = sum;
}

extern "C" void GPU(embedding_forward)(Real *out, const int32_t *tokens, const Real *wte,
                                       const Real *wpe, int B, int T, int C) {
    size_t n = (size_t)B * T * C;
    int width = C % PACK == 0 ? PACK : 1;
    if (n > 0) {
        embedding_forward_kernel<<<blocks_for(n, THREADS * width), THREADS>>>(out, tokens, wte, wpe,
                                                                              n, T, C, width);
        LAUNCHED("embedding_forward");
    }
}

extern "C" void GPU(embedding_backward)(float *dwte, float *dwpe, const Real *dout,
                                        const int32_t *tokens, int B, int T, int C, int V,
                                        const Workspace *workspace) {
    (void)V, (void)workspace;
    int positions = B * T;
    size_t n = (size_t)T * C; /* elements of one sequence, and of dwpe */
    if (positions > 0 && C > 0) {
        if (C % PACK == 0) {
            embedding_backward_tokens_kernel<PACK>
                <<<positions, THREADS>>>(dwte, dout, tokens, positions, C);
        } else {
            embedding_backward_tokens_kernel<1>
                <<<positions, THREADS>>>(dwte, dout, tokens, positions, C);
        }
        LAUNCHED("embedding_backward, tokens");
        embedding_backward_positions_kernel<<<blocks_for(n, THREADS), THREADS>>>(dwpe, dout, B, n);
        LAUNCHED("embedding_backward, positions");
    }
}
