/* The residual connection on the GPU, with dropout on the branch. The contract is in residual.h,
   the C twin is residual.c. */
#include "kernels/residual.h"

#include "kernels/dropout_mask.cuh"

/* How threads map to data. As in dropout.cu: a thread takes PACK neighbours of every tensor, 16
   bytes in one access, and draws their mask. */

enum { THREADS = 256 };

static __global__ void residual_forward_kernel(Real *out, const Real *stream, const Real *branch,
                                               size_t n, Mask mask) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    float sum[PACK], x[PACK];
    load_pack(sum, stream + first, n - first);
    load_pack(x, branch + first, n - first);
    /* out[i] = stream[i] + dropout(branch[i]) */
    add_masked(sum, x, first, mask);
    store_pack(out + first, sum, n - first);
}

static __global__ void residual_backward_kernel(Real *dstream, Real *dbranch, const Real *dout,
                                                size_t n, Mask mask) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    float dy[PACK], sum[PACK];
    load_pack(dy, dout + first, n - first);
    load_pack(sum, dbranch + first, n - first);
    /* dbranch[i] += dropout(dout[i]) */
    add_masked(sum, dy, first, mask);
    store_pack(dbranch + first, sum, n - first);
    if (dstream != NULL) {
        load_pack(sum, dstream + first, n - first);
        /* dstream[i] += dout[i] */
        for (int i = 0; i < PACK; i++) {
            sum[i] += dy[i];
        }
        store_pack(dstream + first, sum, n - first);
    }
}

extern "C" void GPU(residual_forward)(Real *out, const Real *stream, const Real *branch, size_t n,
                                      Dropout dropout) {
    if (n > 0) {
        residual_forward_kernel<<<blocks_for(n, THREADS * PACK), THREADS>>>(out, stream, branch, n,
                                                                            mask_of(dropout));
        LAUNCHED("residual_forward");
    }
}

extern "C" void GPU(residual_backward)(Real *dstream, Real *dbranch, const Real *dout, size_t n,
                                       Dropout dropout) {
    CHECK(dbranch != dout, "dbranch must not be dout");
    if (n > 0) {
        residual_backward_kernel<<<blocks_for(n, THREADS * PACK), THREADS>>>(dstream, dbranch, dout,
                                                                             n, mask_of(dropout));
        LAUNCHED("residual_backward");
    }
}
