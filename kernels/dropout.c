#include "kernels/dropout.h"

#include <stdbool.h>

#include "kernels/dropout_mask.h"
#include "kernels/real.h"

/* to (n) = factor * from, on top of what `to` holds if `add`. A dropped NaN or infinity is 0 too:
   the element takes no part, whatever it was. */
static void apply(Real *to, const Real *from, size_t n, Dropout dropout, bool add) {
#pragma omp parallel for
    for (size_t first = 0; first < n; first += MASK_RUN) {
        float factor[MASK_RUN];
        dropout_factors(factor, first, dropout);
        size_t count = n - first < MASK_RUN ? n - first : MASK_RUN;
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            float before = add ? to_float(to[first + i]) : 0;
            float kept_part = factor[i] > 0 ? factor[i] * to_float(from[first + i]) : 0;
            to[first + i] = real(before + kept_part);
        }
    }
}

void CPU(dropout_forward)(Real *out, const Real *in, size_t n, Dropout dropout) {
    apply(out, in, n, dropout, false);
}

void CPU(dropout_backward)(Real *din, const Real *dout, size_t n, Dropout dropout) {
    apply(din, dout, n, dropout, din != dout);
}
