/* Token plus position embedding on the GPU, without atomics. The contract is in embedding.h, the C
   twin is embedding.c. */
#include "kernels/embedding.h"

#include "kernels/real.cuh"

/* How threads map to data.

   forward: `width` neighbours of one row, PACK of them in one 16-byte access. Where C is not
   a multiple of PACK, rows do not begin at multiples of 16 bytes; there the width is 1.

   backward, tokens: a warp per position (b, t) and per SPAN channels. Two positions may hold the
   same token, so their warps must not both add to its row. The one whose position is the token's
   first adds for all of them, in the order of (b, t), and the others leave: no atomics, and the
   same bits every time.

   backward, positions: a thread per element of dwpe, which it alone adds to. */

enum { THREADS = 256, WARP = 32, PER_LANE = 8, SPAN = WARP * PER_LANE, ROWS = 2 };
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

/* Which of the 32 positions from `start` on, one per lane, are below `end` and hold `token`: a bit
   for each. All lanes must call. */
static __device__ inline unsigned holders(const int32_t *tokens, int start, int end, int token) {
    int at = start + (int)threadIdx.x % WARP;
    return __ballot_sync(ALL_LANES, at < end && tokens[at] == token);
}

/* Whether no earlier position holds this token. All lanes must call. */
static __device__ inline bool is_first(const int32_t *tokens, int position, int token) {
    for (int start = 0; start < position; start += WARP) {
        if (holders(tokens, start, position, token) != 0) {
            return false;
        }
    }
    return true;
}

/* sum[] += the rows of the ROWS lowest positions in `found`, in their order. All of them are on
   their way before the first is added: a text of one token is a single sum over all positions.
   Returns the positions that are left. */
static __device__ inline unsigned add_rows(float sum[PER_LANE], const Real *dout, int start,
                                           unsigned found, int first, int C) {
    float row[ROWS][PER_LANE];
    unsigned left = found;
#pragma unroll
    for (int k = 0; k < ROWS; k++, left &= left - 1) { /* takes the lowest bit off */
        const Real *from = dout + (size_t)(left != 0 ? start + __ffs((int)left) - 1 : 0) * C;
        for (int i = 0; i < PER_LANE; i++) {
            int c = first + i * WARP;
            row[k][i] = left != 0 && c < C ? to_float(from[c]) : 0;
        }
    }
#pragma unroll
    for (int k = 0; k < ROWS && found != 0; k++, found &= found - 1) {
        for (int i = 0; i < PER_LANE; i++) {
            sum[i] += row[k][i];
        }
    }
    return left;
}

static __global__ void embedding_backward_tokens_kernel(float *dwte, const Real *dout,
                                                        const int32_t *tokens, int positions,
                                                        int C) {
    int position = (int)((blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    if (position >= positions || tokens[position] < 0 ||
        !is_first(tokens, position, tokens[position])) {
        return;
    }
    int token = tokens[position];
    int first = (int)(blockIdx.y * SPAN + threadIdx.x % WARP);
    float *to = dwte + (size_t)token * C;
    float sum[PER_LANE];
    for (int i = 0; i < PER_LANE; i++) {
        int c = first + i * WARP;
        sum[i] = c < C ? to[c] : 0;
    }
    /* From a multiple of 32 on, which is a sector's begin: nothing before `position` is found. */
    for (int start = position / WARP * WARP; start < positions; start += WARP) {
        unsigned found = holders(tokens, start, positions, token);
        /* dwte[token][c] += dout[b][t][c] for every position found, in order */
        while (found != 0) {
            found = add_rows(sum, dout, start, found, first, C);
        }
    }
    for (int i = 0; i < PER_LANE; i++) {
        int c = first + i * WARP;
        if (c < C) {
            to[c] = sum[i];
        }
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
        dim3 grid(blocks_for(positions, THREADS / WARP), blocks_for(C, SPAN));
        embedding_backward_tokens_kernel<<<grid, THREADS>>>(dwte, dout, tokens, positions, C);
        LAUNCHED("embedding_backward, tokens");
        embedding_backward_positions_kernel<<<blocks_for(n, THREADS), THREADS>>>(dwpe, dout, B, n);
        LAUNCHED("embedding_backward, positions");
    }
}
