/* The lanes of a warp exchange numbers through shared memory as if they ran in step. Since Volta
   they need not: __syncwarp() is missing between the store and the load. */
/* says: a __syncwarp() */
#include "try.cuh"

static __global__ void rotate(float *x) {
    __shared__ float copy[32];
    int lane = threadIdx.x;
    copy[lane] = x[lane];
#ifdef MENDED
    __syncwarp();
#endif
    x[lane] = copy[(lane + 1) % 32]; /* expect: race */
}

int main(void) {
    float host[32], *x;
    for (int i = 0; i < 32; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    rotate<<<1, 32>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, 32), 10912 - 496);
}
