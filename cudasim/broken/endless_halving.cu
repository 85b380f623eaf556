/* The step of the sum is halved with rounding up, and never becomes 0. On a GPU the kernel never
   finishes. */
#include "try.cuh"

static __global__ void count(int *out, int n) {
    int steps = 0;
#ifdef MENDED
    for (int s = n; s > 0; s = s / 2) {
#else
    for (int s = n; s > 0; s = (s + 1) / 2) { /* expect: timeout */
#endif
        steps++;         /* expect: timeout */
        __syncthreads(); /* expect: timeout */
    }
    out[threadIdx.x] = steps;
}

int main(void) {
    int host[64], *out;
    TRY(cudaMalloc(&out, sizeof host));
    count<<<1, 64>>>(out, 32);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host[0], 6);
}
