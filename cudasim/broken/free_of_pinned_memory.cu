/* Pinned memory is given to free(), since it is host memory after all. The C library has never
   seen it, and stops the program or fails later. */
#include "try.cuh"

int main(void) {
    float *x;
    TRY(cudaMallocHost(&x, 64));
    x[0] = 1;
    float first = x[0];
#ifdef MENDED
    TRY(cudaFreeHost(x));
#else
    free(x); /* expect: invalid free */
#endif
    return expect(first, 1);
}
