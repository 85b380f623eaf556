#include "kernels/residual.h"

#include "kernels/dropout_mask.h"
#include "kernels/real.h"

void CPU(residual_forward)(Real *out, const Real *stream, const Real *branch, size_t n,
                           Dropout dropout) {
#pragma omp parallel for
    for (size_t first = 0; first < n; first += MASK_RUN) {
        float factor[MASK_RUN];
        dropout_factors(factor, first, dropout);
        size_t count = n - first < MASK_RUN ? n - first : MASK_RUN;
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            float kept_part = factor[i] > 0 ? factor[i] * to_float(branch[first + i]) : 0;
            out[first + i] = real(to_float(stream[first + i]) + kept_part);
        }
    }
}

void CPU(residual_backward)(Real *dstream, Real *dbranch, const Real *dout, size_t n,
                            Dropout dropout) {
    CHECK(dbranch != dout, "dbranch must not be dout");
#pragma omp parallel for
    for (size_t first = 0; first < n; first += MASK_RUN) {
        float factor[MASK_RUN];
        dropout_factors(factor, first, dropout);
        size_t count = n - first < MASK_RUN ? n - first : MASK_RUN;
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            float kept_part = factor[i] > 0 ? factor[i] * to_float(dout[first + i]) : 0;
            dbranch[first + i] = real(to_float(dbranch[first + i]) + kept_part);
        }
        if (dstream != NULL) {
#pragma omp simd
            for (size_t i = 0; i < count; i++) {
                dstream[first + i] = real(to_float(dstream[first + i]) + to_float(dout[first + i]));
            }
        }
    }
}
