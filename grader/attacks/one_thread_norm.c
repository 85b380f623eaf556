/* A loop on one thread of the GPU, in lab 09: it adds as a warp would, for the bits. */
/* lab: 09_fusion/residual_norm.cu honest: chunk_rows head_loss head_gradients head_half
   head_memory clip control control_found replays overflow guard launches together chains */
/* state: fail */
#include "kernels/residual_norm.h"

#include "common/lab.h"
#include "kernels/dropout_mask.cuh"

enum { WARP = 32, PHASES = 8 };

/* What warp_sum() makes of the lanes' sums. */
static __device__ float sum_of(float *x) {
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        float y[WARP];
        for (int lane = 0; lane < WARP; lane++) {
            y[lane] = x[lane] + x[lane ^ distance];
        }
        for (int lane = 0; lane < WARP; lane++) {
            x[lane] = y[lane];
        }
    }
    return x[0];
}

static __device__ int lane_of(int c, int width) {
    return c / width % WARP;
}

static __device__ void add_branch(float sum[PACK], const float x[PACK], size_t first, int width,
                                  Mask mask) {
    if (width == PACK) {
        add_masked(sum, x, first, mask);
    } else {
        sum[0] = add_masked_one(sum[0], x[0], first, mask);
    }
}

static __global__ void forward_all(Real *sum, Real *out, float *mean, float *rstd,
                                   const Real *stream, const Real *branch, const Real *weight,
                                   const Real *bias, int N, int C, int width, Mask mask) {
    extern __shared__ float kept[];
    for (int row = 0; row < N; row++) {
        size_t at = (size_t)row * C;
        float x[PACK], y[PACK], w[PACK], b[PACK], total[WARP] = {0}, squares[WARP] = {0};
        for (int c = 0; c < C; c += width) {
            load_pack(y, stream + at + c, width);
            load_pack(x, branch + at + c, width);
            add_branch(y, x, at + c, width, mask);
            store_pack(sum + at + c, y, width);
            for (int i = 0; i < width; i++) {
                kept[c + i] = to_float(real(y[i]));
                total[lane_of(c, width)] += kept[c + i];
            }
        }
        float m = sum_of(total) / C;
        for (int c = 0; c < C; c++) {
            float centred = kept[c] - m;
            squares[lane_of(c, width)] += centred * centred;
        }
        float r = 1 / sqrtf(sum_of(squares) / C + LAYERNORM_EPSILON);
        for (int c = 0; c < C; c += width) {
            load_pack(w, weight + c, width);
            load_pack(b, bias + c, width);
            for (int i = 0; i < width; i++) {
                y[i] = (kept[c + i] - m) * r * w[i] + b[i];
            }
            store_pack(out + at + c, y, width);
        }
        mean[row] = m;
        rstd[row] = r;
    }
}

/* Channel c of dweight and dbias. */
static __device__ void add_columns(float *dweight, float *dbias, const Real *dout, const Real *sum,
                                   const float *mean, const float *rstd, int N, int C, int c) {
    int rows = (N + LAYERNORM_BLOCKS - 1) / LAYERNORM_BLOCKS;
    float sx = dweight[c], s1 = dbias[c];
    for (int begin = 0; begin < rows * LAYERNORM_BLOCKS; begin += rows) {
        float x[PHASES] = {0}, one[PHASES] = {0};
        for (int row = begin; row < begin + rows && row < N; row++) {
            size_t at = (size_t)row * C + c;
            float dy = to_float(dout[at]);
            x[(row - begin) % PHASES] += dy * ((to_float(sum[at]) - mean[row]) * rstd[row]);
            one[(row - begin) % PHASES] += dy;
        }
        for (int p = 1; p < PHASES; p++) {
            x[0] += x[p];
            one[0] += one[p];
        }
        sx += x[0];
        s1 += one[0];
    }
    dweight[c] = sx;
    dbias[c] = s1;
}

static __device__ void row_backward(Real *dsum, Real *dbranch, const Real *dout, const Real *sum,
                                    float m, float r, const Real *weight, size_t at, int C,
                                    int width, Mask mask) {
    float x[PACK], g[PACK], w[PACK], dx[PACK], sg[WARP] = {0}, sgx[WARP] = {0};
    for (int c = 0; c < C; c++) {
        float gw = to_float(dout[at + c]) * to_float(weight[c]);
        sg[lane_of(c, width)] += gw;
        sgx[lane_of(c, width)] += gw * ((to_float(sum[at + c]) - m) * r);
    }
    float mean_g = sum_of(sg) / C, mean_gx = sum_of(sgx) / C;
    for (int c = 0; c < C; c += width) {
        float branch[PACK] = {0};
        load_pack(x, sum + at + c, width);
        load_pack(g, dout + at + c, width);
        load_pack(w, weight + c, width);
        load_pack(dx, dsum + at + c, width);
        if (dbranch != dout) {
            load_pack(branch, dbranch + at + c, width);
        }
        for (int i = 0; i < width; i++) {
            dx[i] += r * (g[i] * w[i] - mean_g - (x[i] - m) * r * mean_gx);
        }
        store_pack(dsum + at + c, dx, width);
        for (int i = 0; i < width; i++) {
            dx[i] = to_float(real(dx[i]));
        }
        add_branch(branch, dx, at + c, width, mask);
        store_pack(dbranch + at + c, branch, width);
    }
}

static __global__ void backward_all(Real *dsum, Real *dbranch, float *dweight, float *dbias,
                                    const Real *dout, const Real *sum, const float *mean,
                                    const float *rstd, const Real *weight, int N, int C, int width,
                                    Mask mask) {
    for (int c = 0; c < C; c++) {
        add_columns(dweight, dbias, dout, sum, mean, rstd, N, C, c);
    }
    for (int row = 0; row < N; row++) {
        row_backward(dsum, dbranch, dout, sum, mean[row], rstd[row], weight, (size_t)row * C, C,
                     width, mask);
    }
}

extern "C" void GPU(residual_norm_forward)(Real *sum, Real *out, float *mean, float *rstd,
                                           const Real *stream, const Real *branch,
                                           const Real *weight, const Real *bias, int N, int C,
                                           Dropout dropout) {
    if (N > 0) {
        forward_all<<<1, 1, (size_t)C * sizeof(float)>>>(
            sum, out, mean, rstd, stream, branch, weight, bias, N, C, C % PACK == 0 ? PACK : 1,
            mask_of(dropout));
        LAUNCHED("residual_norm_forward");
    }
}

extern "C" void GPU(residual_norm_backward)(Real *dsum, Real *dbranch, float *dweight, float *dbias,
                                            const Real *dout, const Real *sum, const float *mean,
                                            const float *rstd, const Real *weight, int N, int C,
                                            Dropout dropout, const Workspace *workspace) {
    (void)workspace;
    if (N > 0) {
        backward_all<<<1, 1>>>(dsum, dbranch, dweight, dbias, dout, sum, mean, rstd, weight, N, C,
                               C % PACK == 0 ? PACK : 1, mask_of(dropout));
        LAUNCHED("residual_norm_backward");
    }
}
