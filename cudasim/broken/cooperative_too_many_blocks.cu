/* More blocks than the device holds at once cannot wait for each other. */
#include "try.cuh"

__global__ void fill(float *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main() {
#ifdef MENDED
    const int blocks = 4;
#else
    const int blocks = 64;
#endif
    float host[64 * 1024], *x;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    void *arguments[] = {&x};
    TRY(cudaLaunchCooperativeKernel(fill, blocks, 1024, arguments)); /* expect: launch failed */
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[0], 1);
}
