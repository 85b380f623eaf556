/* A kernel that never ends, launched and awaited by a thread of the host that is not its first. */
#include <thread>

#include "try.cuh"

static __global__ void halve(int *x) {
    int steps = 0;
#ifdef MENDED
    while (*x > 0) {
#else
    while (*x >= 0) { /* expect: timeout */
#endif
        *x /= 2; /* expect: timeout */
        steps++; /* expect: timeout */
    }
    x[1] = steps;
}

static void run(int *steps) {
    int host[2] = {1000, 0}, *x;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    halve<<<1, 1>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    *steps = host[1];
}

int main(void) {
    int steps = 0;
    std::thread(run, &steps).join();
    return expect(steps, 10);
}
