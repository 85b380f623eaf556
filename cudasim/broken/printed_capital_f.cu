/* A kernel prints by %F. A GPU's printf() knows %f, and not %F: what follows in the line is garbage
   there. */
#include "try.cuh"

static __global__ void show(const float *x) {
#ifdef MENDED
    printf("%f\n", *x);
#else
    printf("%F\n", *x); /* expect: undefined behaviour */
#endif
}

int main(void) {
    float host = 1.5f, *x;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, &host, sizeof host, cudaMemcpyHostToDevice));
    show<<<1, 1>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaFree(x));
    return expect(host, 1.5);
}
