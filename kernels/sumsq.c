/* The sum of squares on the CPU: partial sums of fixed pieces, in double, then their sum, so that
   bits do not depend on the number of threads. The contract is in sumsq.h. */
#include "kernels/sumsq.h"

void sumsq_cpu(float *out, TensorList x, const Workspace *workspace) {
    CHECK(workspace->bytes >= sumsq_scratch(x.length), "workspace of %zu bytes, %zu indices",
          workspace->bytes, x.length);
    double *partial = workspace->data, total = 0;
    size_t blocks = x.length / TENSOR_BLOCK;
#pragma omp parallel for
    for (size_t block = 0; block < blocks; block++) {
        TensorPlace at = tensor_find(x, block * TENSOR_BLOCK);
        const float *y = tensor_at(x, at);
        size_t n = tensor_run(at);
        double sum = 0;
        /* sum of x_i^2 over this piece */
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < n; i++) {
            sum += (double)y[i] * (double)y[i];
        }
        partial[block] = sum;
    }
    /* the pieces, always in the same order */
    for (size_t block = 0; block < blocks; block++) {
        total += partial[block];
    }
    out[0] += (float)total;
}
