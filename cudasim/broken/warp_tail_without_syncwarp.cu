/* The last five steps of the sum rely on a warp running in step, as old tutorials teach. Since
   Volta the lanes may drift apart, and the sum is sometimes wrong. */
#include "try.cuh"

static __global__ void sum(float *x) {
    __shared__ float part[64];
    int lane = threadIdx.x;
    part[lane] = x[lane];
    part[lane + 32] = x[lane + 32];
    __syncwarp();
    for (int step = 32; step > 0; step /= 2) {
#ifdef MENDED
        float other = part[lane + step];
        __syncwarp();
        part[lane] += other;
        __syncwarp();
#else
        part[lane] += part[lane + step]; /* expect: race */
#endif
    }
    if (lane == 0) {
        x[0] = part[0];
    }
}

int main(void) {
    float host[64], *x;
    for (int i = 0; i < 64; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    sum<<<1, 32>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[0], 2016);
}
