/* The host gives device memory to free() of the C library. */
#include "try.cuh"

int main() {
    float *x;
    TRY(cudaMalloc(&x, 64 * sizeof *x));
#ifdef MENDED
    TRY(cudaFree(x));
#else
    free(x); /* expect: invalid free */
#endif
    return expect(1, 1);
}
