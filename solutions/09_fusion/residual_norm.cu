/* Lab 09: residual connection and layer norm in one pass, on the GPU. The contract is in
   kernels/residual_norm.h. */
#include "kernels/residual_norm.h"

#include "common/lab.h"
#include "kernels/dropout_mask.cuh"

/* How threads map to data. A warp per row, as in layernorm.cu: its lanes take `width` neighbours at
   a time, PACK of them or, where C is not a multiple of PACK, 1.

   residual_norm_kernel: the sum is needed three times, for the mean, the variance and the output.
   It is kept in shared memory, a row for each warp: what a lane puts there, it alone reads again,
   so there is no barrier. The row decides how many warps a block has.

   residual_norm_input_kernel: as in layernorm.cu, lab 02's task 6, and the branch's gradient is
   written on the way.

   residual_norm_partials_kernel, residual_norm_add_kernel: sums down the columns, as in
   layernorm.cu. */

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP, PHASES = WARPS, ROOM = 48 << 10 };

/* Warps of a block of forward: as many as have room for their rows. */
static int warps_for(int C) {
    int warps = ROOM / (int)sizeof(float) / C;
    CHECK(warps > 0, "C = %d: a row does not fit into shared memory", C);
    return warps < WARPS ? warps : WARPS;
}

/* A warp per row: sum, out, mean[row], rstd[row]. The mask of a pack: add_masked(); of a single
   number, where width is 1: add_masked_one().

       static __global__ void residual_norm_kernel(Real *sum, Real *out, float *mean, float *rstd,
                                                   const Real *stream, const Real *branch,
                                                   const Real *weight, const Real *bias, int N,
                                                   int C, int width, Mask mask);
 */
#ifndef STUB
/* sum (PACK) += x under the mask of the elements from `first` on. */
static __device__ inline void add_branch(float sum[PACK], const float x[PACK], size_t first,
                                         int width, Mask mask) {
    if (width == PACK) {
        add_masked(sum, x, first, mask);
    } else {
        sum[0] = add_masked_one(sum[0], x[0], first, mask);
    }
}

static __global__ void residual_norm_kernel(Real *sum, Real *out, float *mean, float *rstd,
                                            const Real *stream, const Real *branch,
                                            const Real *weight, const Real *bias, int N, int C,
                                            int width, Mask mask) {
    extern __shared__ float rows[];
    int lane = threadIdx.x % WARP;
    int row = (int)((blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    if (row >= N) {
        return;
    }
    size_t at = (size_t)row * C;
    float *kept = rows + (size_t)(threadIdx.x / WARP) * C;
    float x[PACK], y[PACK], w[PACK], b[PACK], total = 0, squares = 0;
    for (int c = lane * width; c < C; c += WARP * width) {
        load_pack(y, stream + at + c, width);
        load_pack(x, branch + at + c, width);
        add_branch(y, x, at + c, width, mask);
        store_pack(sum + at + c, y, width);
        for (int i = 0; i < PACK; i++) {
            if (i < width) {
                kept[c + i] = to_float(real(y[i])); /* the norm is of what is stored */
                total += kept[c + i];
            }
        }
    }
    float m = warp_sum(total) / C;
    for (int c = lane * width; c < C; c += WARP * width) {
        for (int i = 0; i < PACK; i++) {
            float centred = i < width ? kept[c + i] - m : 0;
            squares += centred * centred;
        }
    }
    float r = 1 / sqrtf(warp_sum(squares) / C + LAYERNORM_EPSILON);
    for (int c = lane * width; c < C; c += WARP * width) {
        load_pack(w, weight + c, width);
        load_pack(b, bias + c, width);
        for (int i = 0; i < PACK; i++) {
            y[i] = i < width ? (kept[c + i] - m) * r * w[i] + b[i] : 0;
        }
        store_pack(out + at + c, y, width);
    }
    if (lane == 0) {
        mean[row] = m;
        rstd[row] = r;
    }
}
#endif

/* A warp per row: dsum += the gradient through the norm, and dbranch += dropout(dsum), or = where
   it is dout:

       static __global__ void residual_norm_input_kernel(Real *dsum, Real *dbranch,
                                                         const Real *dout, const Real *sum,
                                                         const float *mean, const float *rstd,
                                                         const Real *weight, int N, int C,
                                                         int width, Mask mask);
 */
#ifndef STUB
static __global__ void residual_norm_input_kernel(Real *dsum, Real *dbranch, const Real *dout,
                                                  const Real *sum, const float *mean,
                                                  const float *rstd, const Real *weight, int N,
                                                  int C, int width, Mask mask) {
    int row = (int)((blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    if (row >= N) {
        return;
    }
    size_t at = (size_t)row * C;
    int lane = threadIdx.x % WARP;
    float m = mean[row], r = rstd[row];
    float x[PACK], g[PACK], w[PACK], dx[PACK], sum_g = 0, sum_gx = 0;
    for (int c = lane * width; c < C; c += WARP * width) {
        load_pack(x, sum + at + c, width);
        load_pack(g, dout + at + c, width);
        load_pack(w, weight + c, width);
        for (int i = 0; i < PACK; i++) {
            sum_g += g[i] * w[i];
            sum_gx += g[i] * w[i] * ((x[i] - m) * r);
        }
    }
    float mean_g = warp_sum(sum_g) / C, mean_gx = warp_sum(sum_gx) / C;
    for (int c = lane * width; c < C; c += WARP * width) {
        float branch[PACK] = {0};
        load_pack(x, sum + at + c, width);
        load_pack(g, dout + at + c, width);
        load_pack(w, weight + c, width);
        load_pack(dx, dsum + at + c, width);
        if (dbranch != dout) {
            load_pack(branch, dbranch + at + c, width);
        }
        for (int i = 0; i < PACK; i++) {
            dx[i] += r * (g[i] * w[i] - mean_g - (x[i] - m) * r * mean_gx);
        }
        store_pack(dsum + at + c, dx, width);
        for (int i = 0; i < PACK; i++) {
            dx[i] = to_float(real(dx[i])); /* the branch gets what is stored */
        }
        add_branch(branch, dx, at + c, width, mask);
        store_pack(dbranch + at + c, branch, width);
    }
}
#endif

/* Sums down the columns: your two kernels of lab 02, tasks 7 and 8, as they stand there. They stand
   twice since files of students include none of each other, and a header that both include would
   give lab 02's answer away. */
#ifndef STUB
static __global__ void residual_norm_partials_kernel(float *partial, const Real *dout,
                                                     const Real *sum, const float *mean,
                                                     const float *rstd, int N, int C) {
    __shared__ float dweight[PHASES][WARP], dbias[PHASES][WARP];
    int c = (int)(blockIdx.x * WARP + threadIdx.x);
    int block_rows = (N + LAYERNORM_BLOCKS - 1) / LAYERNORM_BLOCKS;
    int begin = blockIdx.y * block_rows;
    int end = c >= C ? begin : begin + block_rows < N ? begin + block_rows : N;
    float sum_x = 0, sum_1 = 0;
    for (int row = begin + (int)threadIdx.y; row < end; row += PHASES) {
        size_t at = (size_t)row * C + c;
        float dy = to_float(dout[at]);
        sum_x += dy * ((to_float(sum[at]) - mean[row]) * rstd[row]);
        sum_1 += dy;
    }
    dweight[threadIdx.y][threadIdx.x] = sum_x;
    dbias[threadIdx.y][threadIdx.x] = sum_1;
    __syncthreads();
    if (threadIdx.y == 0 && c < C) {
        for (int phase = 1; phase < PHASES; phase++) {
            sum_x += dweight[phase][threadIdx.x];
            sum_1 += dbias[phase][threadIdx.x];
        }
        partial += 2 * (size_t)blockIdx.y * C;
        partial[c] = sum_x;
        partial[C + c] = sum_1;
    }
}

static __global__ void residual_norm_add_kernel(float *dweight, float *dbias, const float *partial,
                                                int C) {
    int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= C) {
        return;
    }
    float sum_x = dweight[c], sum_1 = dbias[c];
    for (int block = 0; block < LAYERNORM_BLOCKS; block++, partial += 2 * C) {
        sum_x += partial[c];
        sum_1 += partial[C + c];
    }
    dweight[c] = sum_x;
    dbias[c] = sum_1;
}
#endif

extern "C" void GPU(residual_norm_forward)(Real *sum, Real *out, float *mean, float *rstd,
                                           const Real *stream, const Real *branch,
                                           const Real *weight, const Real *bias, int N, int C,
                                           Dropout dropout) {
    int width = C % PACK == 0 ? PACK : 1, warps = warps_for(C);
    Mask mask = mask_of(dropout);
    if (N == 0) {
        return;
    }
#ifndef STUB
    size_t shared = (size_t)warps * C * sizeof(float);
    residual_norm_kernel<<<blocks_for(N, warps), warps * WARP, shared>>>(
        sum, out, mean, rstd, stream, branch, weight, bias, N, C, width, mask);
    LAUNCHED("residual_norm_forward");
#else
    (void)sum, (void)out, (void)mean, (void)rstd, (void)stream, (void)branch, (void)weight;
    (void)bias, (void)width, (void)warps, (void)mask;
    TODO("task 1: residual_norm_kernel, and launch it with a row of shared memory for each warp "
         "(about 45 lines)");
#endif
}

extern "C" void GPU(residual_norm_backward)(Real *dsum, Real *dbranch, float *dweight, float *dbias,
                                            const Real *dout, const Real *sum, const float *mean,
                                            const float *rstd, const Real *weight, int N, int C,
                                            Dropout dropout, const Workspace *workspace) {
    CHECK(dbranch != dsum, "dbranch must not be dsum");
    CHECK(workspace->bytes >= 2 * LAYERNORM_BLOCKS * (size_t)C * sizeof(float),
          "workspace of %zu bytes, C = %d", workspace->bytes, C);
    int width = C % PACK == 0 ? PACK : 1;
    float *partial = (float *)workspace->data;
    Mask mask = mask_of(dropout);
    if (N == 0) {
        return;
    }
#ifndef STUB
    dim3 grid(blocks_for(C, WARP), LAYERNORM_BLOCKS), threads(WARP, PHASES);
    /* First what needs dout whole: in place, the branch's gradient takes its room. */
    residual_norm_partials_kernel<<<grid, threads>>>(partial, dout, sum, mean, rstd, N, C);
    LAUNCHED("residual_norm_backward, partial sums");
    residual_norm_add_kernel<<<blocks_for(C, THREADS), THREADS>>>(dweight, dbias, partial, C);
    LAUNCHED("residual_norm_backward, their sum");
    residual_norm_input_kernel<<<blocks_for(N, WARPS), THREADS>>>(dsum, dbranch, dout, sum, mean,
                                                                  rstd, weight, N, C, width, mask);
    LAUNCHED("residual_norm_backward, input");
#else
    (void)dsum, (void)dbranch, (void)dweight, (void)dbias, (void)dout, (void)sum, (void)mean;
    (void)rstd, (void)weight, (void)width, (void)partial, (void)mask;
    TODO("task 2: the three kernels of backward, and their launches (about 95 lines)");
#endif
}
