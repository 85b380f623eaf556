/* The program resets the device at its end, which takes all memory back. What it should have given
   back itself, before, is a leak in each function that was left until then. */
#include "try.cuh"
/* says: cudaMallocAsync */

enum { N = 32 };

static __global__ void fill(int *x) {
    x[threadIdx.x] = (int)threadIdx.x;
}

int main(void) {
    cudaStream_t stream;
    int *x, last;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMallocAsync((void **)&x, N * sizeof *x, stream)); /* expect: leak */
    fill<<<1, N, 0, stream>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpyAsync(&last, x + N - 1, sizeof last, cudaMemcpyDeviceToHost, stream));
#ifdef MENDED
    TRY(cudaFreeAsync(x, stream));
#endif
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaDeviceReset());
    return expect((float)last, N - 1);
}
