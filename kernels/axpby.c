/* A sum of two tensors, each times a number, on the CPU. The contract is in axpby.h. */
#include "kernels/axpby.h"

#include "kernels/real.h"

/* Elements that a thread takes at once: they fit into its cache as floats. */
enum { RUN = 1024 };

void CPU(axpby)(Real *y, const Real *x, size_t n, float a, float b) {
#pragma omp parallel for
    for (size_t first = 0; first < n; first += RUN) {
        float sum[RUN], added[RUN];
        size_t count = n - first < RUN ? n - first : RUN;
        to_floats(added, x + first, count);
        if (b == 0) { /* y may hold NaN, and 0 times NaN is NaN */
            memset(sum, 0, count * sizeof *sum);
        } else {
            to_floats(sum, y + first, count);
        }
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            sum[i] = a * added[i] + b * sum[i];
        }
        reals(y + first, sum, count);
    }
}
