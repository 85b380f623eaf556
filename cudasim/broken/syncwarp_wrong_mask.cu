/* All lanes of a warp meet by a mask that names half of them. A lane must be in the mask that it
   gives. */
/* more reports follow */
#include "try.cuh"

enum { N = 32 };

static __global__ void turn(int *x) {
    __shared__ int copy[N];
    int i = (int)threadIdx.x;
    copy[i] = x[i];
#ifdef MENDED
    __syncwarp();
#else
    __syncwarp(0x0000ffff); /* expect: undefined shuffle */
#endif
    x[i] = copy[N - 1 - i];
}

int main(void) {
    int host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    turn<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[0], 31);
}
