/* The host reads managed memory that cudaMemsetAsync may still be clearing. cudaMemset would
   wait. */
#include "try.cuh"

enum { N = 64 };

int main() {
    int *x;
    TRY(cudaMallocManaged(&x, N * sizeof *x));
    for (int i = 0; i < N; i++) {
        x[i] = i;
    }
    TRY(cudaMemsetAsync(x, 0, N * sizeof *x, 0));
#ifdef MENDED
    TRY(cudaDeviceSynchronize());
#endif
    double sum = x[63]; /* expect: pending copy */
    TRY(cudaDeviceSynchronize());
    TRY(cudaFree(x));
    return expect(sum, 0);
}
