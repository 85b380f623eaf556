/* Pinned memory is freed twice, the second time by a copy of the pointer. */
#include "try.cuh"

int main(void) {
    float *x, *same;
    TRY(cudaMallocHost(&x, 64 * sizeof *x));
    same = x;
    x[0] = 5;
    float first = x[0];
    TRY(cudaFreeHost(x));
#ifndef MENDED
    TRY(cudaFreeHost(same)); /* expect: double free */
#else
    (void)same;
#endif
    return expect(first, 5);
}
