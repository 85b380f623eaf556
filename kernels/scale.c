#include "kernels/scale.h"

void scale_cpu(float *x, size_t n, float factor) {
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++) {
        x[i] *= factor;
    }
}
