/* Dropout on the CPU: the mask is drawn again wherever it is needed, and never stored. The contract
   is in dropout.h; the factors of a run of elements come from dropout_mask.h. */
#include "kernels/dropout.h"

#include <stdbool.h>

#include "kernels/dropout_mask.h"
#include "kernels/real.h"

/* to (n) = from under the mask, on top of what `to` holds if `add`. */
static void apply(Real *to, const Real *from, size_t n, Dropout dropout, bool add) {
#pragma omp parallel for
    for (size_t first = 0; first < n; first += MASK_RUN) {
        float factor[MASK_RUN], x[MASK_RUN], sum[MASK_RUN] = {0};
        size_t count = n - first < MASK_RUN ? n - first : MASK_RUN;
        /* factor[i] = word_i < threshold ? 0 : 1 / (1 - p) */
        dropout_factors(factor, first, dropout);
        to_floats(x, from + first, count);
        if (add) {
            to_floats(sum, to + first, count);
        }
        /* to[i] = (add ? to[i] : 0) + from[i] * factor[i] */
        dropout_add(sum, x, factor, count);
        reals(to + first, sum, count);
    }
}

void CPU(dropout_forward)(Real *out, const Real *in, size_t n, Dropout dropout) {
    apply(out, in, n, dropout, false);
}

void CPU(dropout_backward)(Real *din, const Real *dout, size_t n, Dropout dropout) {
    apply(din, dout, n, dropout, din != dout);
}
