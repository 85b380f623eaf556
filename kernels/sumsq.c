#include "kernels/sumsq.h"

enum { PARTS = 64 };

void sumsq_cpu(float *out, const float *x, size_t n, const Workspace *workspace) {
    (void)workspace;
    double part[PARTS];
    size_t length = (n + PARTS - 1) / PARTS;
#pragma omp parallel for
    for (int p = 0; p < PARTS; p++) {
        size_t begin = p * length < n ? p * length : n;
        size_t end = begin + length < n ? begin + length : n;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = begin; i < end; i++) {
            sum += (double)x[i] * (double)x[i];
        }
        part[p] = sum;
    }
    double total = 0;
    for (int p = 0; p < PARTS; p++) {
        total += part[p];
    }
    out[0] += (float)total;
}
