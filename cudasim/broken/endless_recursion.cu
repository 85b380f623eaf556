/* The recursion has no end, since n == 0 is stepped over. On a GPU the stack of a thread, 1 KiB at
   first, runs over: "an illegal memory access". */
#include "try.cuh"

static __device__ int depth(volatile int *steps, int n) {
#ifdef MENDED
    if (n <= 0) {
#else
    if (n == 0) {
#endif
        return 0;
    }
    return 1 + depth(steps, n - *steps) * *steps / 2; /* expect: stack overflow */
}

static __global__ void measure(int *steps) {
    steps[1] = depth(steps, 7);
}

int main(void) {
    int host[2] = {2, 0}, *steps;
    TRY(cudaMalloc(&steps, sizeof host));
    TRY(cudaMemcpy(steps, host, sizeof host, cudaMemcpyHostToDevice));
    measure<<<1, 1>>>(steps);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, steps, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(steps));
    return expect(host[1], 4);
}
