/* The program sets device 1 and then starts a thread, which launches without cudaSetDevice: each
   thread of the host begins with device 0. On GPUs without peer access the kernel stops there. */
/* devices: 2 */
#include <thread>

#include "try.cuh"

__global__ void fill(float *x) {
    x[threadIdx.x] = 2;
}

static void work(float *x) {
#ifdef MENDED
    TRY(cudaSetDevice(1));
#endif
    fill<<<1, 64>>>(x); /* expect: memory of another device */
    cudaGetLastError();
    cudaDeviceSynchronize();
}

int main() {
    float result[64], *x;
    TRY(cudaSetDevice(1));
    TRY(cudaMalloc(&x, sizeof result));
    TRY(cudaMemset(x, 0, sizeof result));
    std::thread other(work, x);
    other.join();
    TRY(cudaMemcpy(result, x, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(result, 64), 4160);
}
