/* Memory is registered from one address on and unregistered by another, of its second half. The
   call fails, and the memory stays pinned. */
#include "try.cuh"

enum { N = 4096 };

int main(void) {
    float *x = (float *)aligned_alloc(4096, N * sizeof *x), *half = x + N / 2;
    TRY(cudaHostRegister(x, N * sizeof *x, cudaHostRegisterDefault));
    half[1] = 7;
#ifdef MENDED
    half = x;
#endif
    (void)cudaHostUnregister(half); /* expect: invalid free */
#ifndef MENDED
    TRY(cudaHostUnregister(x));
#endif
    double seen = x[N / 2 + 1];
    free(x);
    return expect(seen, 7);
}
