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

/* A warp per row: dsum += the gradient through the norm, and dbranch += dropout(dsum), or = where
   it is dout:

       static __global__ void residual_norm_input_kernel(Real *dsum, Real *dbranch,
                                                         const Real *dout, const Real *sum,
                                                         const float *mean, const float *rstd,
                                                         const Real *weight, int N, int C,
                                                         int width, Mask mask);
 */

/* Sums down the columns: your two kernels of lab 02, tasks 7 and 8, as they stand there. They stand
   twice since files of students include none of each other, and a header that both include would
   give lab 02's answer away. */

extern "C" void GPU(residual_norm_forward)(Real *sum, Real *out, float *mean, float *rstd,
                                           const Real *stream, const Real *branch,
                                           const Real *weight, const Real *bias, int N, int C,
                                           Dropout dropout) {
    int width = C % PACK == 0 ? PACK : 1, warps = warps_for(C);
    Mask mask = mask_of(dropout);
    if (N == 0) {
        return;
    }
    (void)sum, (void)out, (void)mean, (void)rstd, (void)stream, (void)branch, (void)weight;
    (void)bias, (void)width, (void)warps, (void)mask;
    TODO("task 1: residual_norm_kernel, and launch it with a row of shared memory for each warp "
         "(about 45 lines)");
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
    (void)dsum, (void)dbranch, (void)dweight, (void)dbias, (void)dout, (void)sum, (void)mean;
    (void)rstd, (void)weight, (void)width, (void)partial, (void)mask;
    TODO("task 2: the three kernels of backward, and their launches (about 95 lines)");
}
