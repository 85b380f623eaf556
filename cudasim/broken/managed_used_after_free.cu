/* Managed memory is freed, and the host reads the result after that. On a real machine the pages
   are gone, and the program crashes. */
#include "try.cuh"

__global__ void count(float *x) {
    x[threadIdx.x] = (float)threadIdx.x;
}

int main() {
    enum { N = 64 };
    float *x;
    TRY(cudaMallocManaged(&x, N * sizeof(float)));
    count<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    double last = x[N - 1];
    TRY(cudaFree(x));
#else
    TRY(cudaFree(x));
    double last = x[N - 1]; /* expect: use after free */
#endif
    return expect(last, N - 1);
}
