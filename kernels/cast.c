#include "kernels/cast.h"
#include "kernels/real.h"

void CPU(cast_from_float)(Real *out, const float *in, size_t n) {
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++) {
        out[i] = real(in[i]);
    }
}

void CPU(cast_to_float)(float *out, const Real *in, size_t n) {
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++) {
        out[i] = to_float(in[i]);
    }
}
