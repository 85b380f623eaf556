/* Between the storage type and float, on the CPU. The contract is in cast.h. In float both are
   plain copies. */
#include "kernels/cast.h"
#include "kernels/real.h"

/* Numbers that a thread converts at a time. */
enum { RUN = 1 << 14 };

void CPU(cast_from_float)(Real *out, const float *in, size_t n) {
#pragma omp parallel for
    for (size_t first = 0; first < n; first += RUN) {
        reals(out + first, in + first, n - first < RUN ? n - first : RUN);
    }
}

void CPU(cast_to_float)(float *out, const Real *in, size_t n) {
#pragma omp parallel for
    for (size_t first = 0; first < n; first += RUN) {
        to_floats(out + first, in + first, n - first < RUN ? n - first : RUN);
    }
}
