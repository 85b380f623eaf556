/* Calls the two ops that should be one. */
/* lab: 09_fusion/residual_norm.cu  honest: none */
/* state: build error */
#include "kernels/residual.h"
#include "kernels/residual_norm.h"

#include "kernels/real.cuh"

extern "C" void GPU(residual_norm_forward)(Real *sum, Real *out, float *mean, float *rstd,
                                           const Real *stream, const Real *branch,
                                           const Real *weight, const Real *bias, int N, int C,
                                           Dropout dropout) {
    GPU(residual_forward)(sum, stream, branch, (size_t)N * C, dropout);
    GPU(layernorm_forward)(out, mean, rstd, sum, weight, bias, N, C);
}

extern "C" void GPU(residual_norm_backward)(Real *dsum, Real *dbranch, float *dweight, float *dbias,
                                            const Real *dout, const Real *sum, const float *mean,
                                            const float *rstd, const Real *weight, int N, int C,
                                            Dropout dropout, const Workspace *workspace) {
    GPU(layernorm_backward)(dsum, dweight, dbias, dout, sum, mean, rstd, weight, N, C, workspace);
    GPU(residual_backward)(NULL, dbranch, dsum, (size_t)N * C, dropout);
}
