/* Residual connection and layer norm on the CPU, one after the other: here a row is in the cache
   when the norm reads it, so what is gained on a GPU is not to be gained. The contract is in
   residual_norm.h. */
#include "kernels/residual_norm.h"

#include "kernels/real.h"
#include "kernels/residual.h"

void CPU(residual_norm_forward)(Real *sum, Real *out, float *mean, float *rstd, const Real *stream,
                                const Real *branch, const Real *weight, const Real *bias, int N,
                                int C, Dropout dropout) {
    CPU(residual_forward)(sum, stream, branch, (size_t)N * (size_t)C, dropout);
    CPU(layernorm_forward)(out, mean, rstd, sum, weight, bias, N, C);
}

void CPU(residual_norm_backward)(Real *dsum, Real *dbranch, float *dweight, float *dbias,
                                 const Real *dout, const Real *sum, const float *mean,
                                 const float *rstd, const Real *weight, int N, int C,
                                 Dropout dropout, const Workspace *workspace) {
    CHECK(dbranch != dsum, "dbranch must not be dsum");
    size_t n = (size_t)N * (size_t)C;
    CPU(layernorm_backward)(dsum, dweight, dbias, dout, sum, mean, rstd, weight, N, C, workspace);
    if (dbranch == dout) {
        /* dropout_backward() adds as well: in place, a plain copy of dsum under the mask */
        CPU(dropout_forward)(dbranch, dsum, n, dropout);
    } else {
        CPU(residual_backward)(NULL, dbranch, dsum, n, dropout);
    }
}
