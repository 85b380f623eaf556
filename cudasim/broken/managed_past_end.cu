/* The host fills one element more of managed memory than there is. */
#include "try.cuh"

enum { N = 1024 };

int main() {
    float *x;
    TRY(cudaMallocManaged(&x, N * sizeof *x));
#ifdef MENDED
    for (int i = 0; i < N; i++) {
#else
    for (int i = 0; i <= N; i++) {
#endif
        x[i] = 1; /* expect: out-of-bounds access */
    }
    TRY(cudaFree(x));
    return expect(1, 1);
}
