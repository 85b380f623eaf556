/* The host reads in mapped memory what a kernel writes there, and has not waited for it. On a GPU
   the kernel may not have begun. */
#include "try.cuh"

enum { N = 64 };

static __global__ void square(float *y) {
    int i = (int)threadIdx.x;
    y[i] = (float)(i * i);
}

int main(void) {
    float *y, *mapped;
    TRY(cudaHostAlloc(&y, N * sizeof *y, cudaHostAllocMapped));
    for (int i = 0; i < N; i++) {
        y[i] = 0;
    }
    TRY(cudaHostGetDevicePointer(&mapped, y, 0));
    square<<<1, N>>>(mapped);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaDeviceSynchronize());
#endif
    float last = y[N - 1]; /* expect: pending kernel */
    TRY(cudaDeviceSynchronize());
    TRY(cudaFreeHost(y));
    return expect(last, 63 * 63);
}
