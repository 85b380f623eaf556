/* Takes the loss scale out of gradients on the CPU, and notes inf and NaN on the way. The contract
   is in unscale.h. */
#include "kernels/unscale.h"

#include "kernels/half.h"

/* Numbers that a thread takes at a time. */
enum { RUN = 1 << 14 };

/* inf and NaN have all bits of the exponent set. By the bits: a compiler may be told that no float
   is ever infinite, an integer cannot be. */
static uint32_t not_finite(float x) {
    return (float_bits(x) & 0x7f800000u) == 0x7f800000u;
}

static uint32_t unscale_run(float *grad, size_t n, float inv_scale) {
    uint32_t found = 0;
#pragma omp simd reduction(| : found)
    for (size_t i = 0; i < n; i++) {
        found |= not_finite(grad[i]);
        grad[i] *= inv_scale;
    }
    return found;
}

void unscale_cpu(float *grad, size_t n, float inv_scale, float *found_inf) {
    uint32_t found = 0;
#pragma omp parallel for reduction(| : found)
    for (size_t first = 0; first < n; first += RUN) {
        found |= unscale_run(grad + first, n - first < RUN ? n - first : RUN, inv_scale);
    }
    if (found) {
        found_inf[0] = 1;
    }
}
