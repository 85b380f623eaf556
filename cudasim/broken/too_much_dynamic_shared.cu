/* 64 KiB of dynamic shared memory without cudaFuncSetAttribute. On a GPU the kernel does not run,
   and only cudaGetLastError says so: "invalid argument". */
#include "try.cuh"

enum { BYTES = 64 * 1024 };

static __global__ void last(float *out) {
    extern __shared__ float buffer[];
    int n = BYTES / sizeof(float);
    buffer[n - 1] = 4;
    *out = buffer[n - 1];
}

int main(void) {
    float host = 0, *out;
    TRY(cudaMalloc(&out, sizeof host));
#ifdef MENDED
    TRY(cudaFuncSetAttribute(last, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
#endif
    last<<<1, 1, BYTES>>>(out); /* expect: launch failed */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host, 4);
}
