/* A thread reads what it has given back by free() in the kernel. */
#include "try.cuh"

static __device__ __noinline__ void give_back(float *x) {
    free(x);
}

static __global__ void sum(float *out) {
    float *x = (float *)malloc(4 * sizeof *x);
    if (x == NULL) {
        return;
    }
    for (int i = 0; i < 4; i++) {
        x[i] = i;
    }
#ifndef MENDED
    give_back(x);
#endif
    out[threadIdx.x] = x[1] + x[3]; /* expect: use after free */
#ifdef MENDED
    give_back(x);
#endif
}

int main(void) {
    float host[32], *out;
    TRY(cudaMalloc(&out, sizeof host));
    sum<<<1, 32>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host[31], 4);
}
