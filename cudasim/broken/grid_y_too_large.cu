/* One row of the grid for each token: gridDim.y and gridDim.z end at 65535, only gridDim.x goes
   further. On a GPU the kernel does not run: "invalid configuration argument". */
#include "try.cuh"

static __global__ void count(int *sum) {
    atomicAdd(sum, 1);
}

int main(void) {
    enum { TOKENS = 70000 };
    int host, *sum;
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMemset(sum, 0, sizeof host));
#ifdef MENDED
    count<<<TOKENS, 1>>>(sum);
#else
    count<<<dim3(1, TOKENS), 1>>>(sum); /* expect: launch failed */
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(sum));
    return expect(host, TOKENS);
}
