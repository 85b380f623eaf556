/* Two threads free what one of them has taken from the device's heap. */
#include "try.cuh"

__global__ void scratch(float *x) {
    __shared__ float *shared;
    if (threadIdx.x == 0) {
        shared = (float *)malloc(64 * sizeof *shared);
    }
    __syncthreads();
    shared[threadIdx.x] = 1;
    x[threadIdx.x] = shared[threadIdx.x];
    __syncthreads();
#ifdef MENDED
    if (threadIdx.x == 0) {
#else
    if (threadIdx.x < 2) {
#endif
        free(shared); /* expect: double free */
    }
}

int main() {
    float host[64], *x;
    TRY(cudaMalloc(&x, sizeof host));
    scratch<<<1, 64>>>(x);
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[63], 1);
}
