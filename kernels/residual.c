/* The residual connection on the CPU: a branch is added to the stream, through dropout. The
   contract is in residual.h; the mask comes from dropout_mask.h, MASK_RUN elements at a time. */
#include "kernels/residual.h"

#include "kernels/dropout_mask.h"
#include "kernels/real.h"

void CPU(residual_forward)(Real *out, const Real *stream, const Real *branch, size_t n,
                           Dropout dropout) {
#pragma omp parallel for
    for (size_t first = 0; first < n; first += MASK_RUN) {
        float factor[MASK_RUN], sum[MASK_RUN], x[MASK_RUN];
        size_t count = n - first < MASK_RUN ? n - first : MASK_RUN;
        dropout_factors(factor, first, dropout);
        to_floats(sum, stream + first, count);
        to_floats(x, branch + first, count);
        /* out[i] = stream[i] + branch[i] * factor[i], the factor being 0 or 1 / (1 - p) */
        dropout_add(sum, x, factor, count);
        reals(out + first, sum, count);
    }
}

void CPU(residual_backward)(Real *dstream, Real *dbranch, const Real *dout, size_t n,
                            Dropout dropout) {
    CHECK(dbranch != dout, "dbranch must not be dout");
#pragma omp parallel for
    for (size_t first = 0; first < n; first += MASK_RUN) {
        float factor[MASK_RUN], sum[MASK_RUN], dy[MASK_RUN];
        size_t count = n - first < MASK_RUN ? n - first : MASK_RUN;
        dropout_factors(factor, first, dropout);
        to_floats(dy, dout + first, count);
        to_floats(sum, dbranch + first, count);
        /* dbranch[i] += dout[i] * factor[i] */
        dropout_add(sum, dy, factor, count);
        reals(dbranch + first, sum, count);
        if (dstream != NULL) {
            to_floats(sum, dstream + first, count);
            /* dstream[i] += dout[i]: the stream passes its gradient on unchanged */
#pragma omp simd
            for (size_t i = 0; i < count; i++) {
                sum[i] += dy[i];
            }
            reals(dstream + first, sum, count);
        }
    }
}
