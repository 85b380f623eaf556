/* The linear layer on the GPU: cuBLAS for the products, cuBLASLt where a bias follows, and small
   kernels for its gradient. The contract is in matmul.h, the C twin is matmul.c. */
#include "kernels/matmul.h"

#include "kernels/gemm.h"
#include "kernels/real.cuh"

/* How threads map to data. Where rows begin at any address cuBLASLt may have no kernel: there the
   bias is written to all rows before the product is added, so that each output is rounded once; a
   thread writes PACK numbers at once.

   The gradient of the bias is a sum over rows. A warp reads 32 neighbouring columns, a thread stays
   in one column. Blocks of rows are summed first, into the workspace, and then their sums: the
   order is the same each time, which atomic additions would not give. */

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP };

/* out (N, OC) = the bias in every row. */
static __global__ void matmul_forward_bias_kernel(Real *out, const Real *bias, size_t n, int OC) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    int column = (int)(first % OC);
    float x[PACK];
    if (OC % PACK == 0) {
        load_pack(x, bias + column, OC - column);
    } else { /* rows do not begin at multiples of 16 bytes */
        for (int i = 0; i < PACK; i++) {
            x[i] = to_float(bias[(column + i) % OC]);
        }
    }
    store_pack(out + first, x, n - first);
}

/* sums (MATMUL_BLOCKS, OC): of each block of rows. */
static __global__ void matmul_backward_sums_kernel(float *sums, const Real *dout, int N, int OC,
                                                   int stride) {
    __shared__ float of_warp[WARPS][WARP];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int column = blockIdx.x * WARP + lane;
    int rows = (N + MATMUL_BLOCKS - 1) / MATMUL_BLOCKS;
    int first = blockIdx.y * rows, end = min(first + rows, N);
    float sum = 0;
    if (column < OC) {
        /* this warp's rows of the block, every eighth */
        for (int row = first + warp; row < end; row += WARPS) {
            sum += to_float(dout[(size_t)row * stride + column]);
        }
    }
    of_warp[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && column < OC) {
        for (int other = 1; other < WARPS; other++) {
            sum += of_warp[other][lane];
        }
        sums[(size_t)blockIdx.y * OC + column] = sum;
    }
}

/* dbias[o] += the sum of the blocks' sums, in order. */
static __global__ void matmul_backward_add_kernel(float *dbias, const float *sums, int OC) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= OC) {
        return;
    }
    float sum = 0;
    for (int block = 0; block < MATMUL_BLOCKS; block++) {
        sum += sums[(size_t)block * OC + column];
    }
    dbias[column] += sum;
}

extern "C" void GPU(matmul_forward)(Real *out, const Real *in, const Real *weight, const Real *bias,
                                    int N, int C, int OC, int stride, const Workspace *workspace) {
    CHECK(stride == OC || (stride > OC && bias == NULL), "stride = %d, OC = %d", stride, OC);
    Matrix x = matrix(in, REAL_PRECISION, C, 0), w = matrix(weight, REAL_PRECISION, C, 0);
    Matrix y = matrix(out, REAL_PRECISION, stride, 0);
    /* out = in weight^T + bias */
    if (bias != NULL && gemm_bias(y, x, transpose(w), bias, N, OC, C, workspace)) {
        return;
    }
    size_t n = (size_t)N * OC;
    if (bias != NULL && n > 0) {
        matmul_forward_bias_kernel<<<blocks_for(n, THREADS * PACK), THREADS>>>(out, bias, n, OC);
        LAUNCHED("matmul_forward");
    }
    gemm(y, 1, x, transpose(w), bias != NULL ? 1 : 0, N, OC, C, 1, workspace);
}

static void bias_backward(float *dbias, const Real *dout, int N, int OC, int stride,
                          const Workspace *workspace) {
    size_t bytes = matmul_scratch_gpu(OC) * sizeof(float);
    CHECK(workspace->bytes >= bytes, "workspace of %zu bytes, needs %zu", workspace->bytes, bytes);
    float *sums = (float *)workspace->data;
    dim3 grid(blocks_for(OC, WARP), MATMUL_BLOCKS);
    matmul_backward_sums_kernel<<<grid, THREADS>>>(sums, dout, N, OC, stride);
    LAUNCHED("matmul_backward");
    matmul_backward_add_kernel<<<blocks_for(OC, THREADS), THREADS>>>(dbias, sums, OC);
    LAUNCHED("matmul_backward");
}

/* din (N, C) = dout weight + (add ? din : 0) */
static void input_backward(Real *din, const Real *dout, const Real *weight, int N, int C, int OC,
                           int stride, bool add, const Workspace *workspace) {
    Matrix dx = matrix(din, REAL_PRECISION, C, 0), dy = matrix(dout, REAL_PRECISION, stride, 0);
    gemm(dx, 1, dy, matrix(weight, REAL_PRECISION, C, 0), add, N, C, OC, 1, workspace);
}

extern "C" void GPU(matmul_backward)(Real *din, float *dweight, float *dbias, const Real *dout,
                                     const Real *in, const Real *weight, int N, int C, int OC,
                                     int stride, const Workspace *workspace) {
    CHECK(stride >= OC, "stride = %d, OC = %d", stride, OC);
    Matrix x = matrix(in, REAL_PRECISION, C, 0), dy = matrix(dout, REAL_PRECISION, stride, 0);
    if (din != NULL) {
        input_backward(din, dout, weight, N, C, OC, stride, true, workspace);
    }
    if (dweight != NULL) {
        /* dweight += dout^T in */
        gemm(matrix(dweight, F32, C, 0), 1, transpose(dy), x, 1, OC, C, N, 1, workspace);
    }
    if (dbias != NULL && OC > 0) {
        bias_backward(dbias, dout, N, OC, stride, workspace);
    }
}

extern "C" void GPU(matmul_backward_first)(Real *din, float *dweight, float *dbias,
                                           const Real *dout, const Real *in, const Real *weight,
                                           int N, int C, int OC, int stride,
                                           const Workspace *workspace) {
    CHECK(stride >= OC && OC > 0, "stride = %d, OC = %d", stride, OC);
    if (din != NULL) {
        input_backward(din, dout, weight, N, C, OC, stride, false, workspace);
    }
    GPU(matmul_backward)(NULL, dweight, dbias, dout, in, weight, N, C, OC, stride, workspace);
}
