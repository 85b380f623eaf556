/* Pinned memory is freed, and the host reads it once more. On a real machine the driver has
   given the pages back, and the program crashes; or it finds what others have put there. */
#include "try.cuh"

__global__ void count(float *x) {
    x[threadIdx.x] = (float)threadIdx.x;
}

int main() {
    enum { N = 64 };
    float *x, *result;
    double sum = 0;
    TRY(cudaMalloc(&x, N * sizeof(float)));
    TRY(cudaMallocHost(&result, N * sizeof(float)));
    count<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, x, N * sizeof(float), cudaMemcpyDeviceToHost));
#ifdef MENDED
    sum = checksum(result, N);
#endif
    TRY(cudaFreeHost(result));
#ifndef MENDED
    for (int i = 0; i < N; i++) {
        sum += (i + 1) * (double)result[i]; /* expect: use after free */
    }
#endif
    TRY(cudaFree(x));
    return expect(sum, 87360);
}
