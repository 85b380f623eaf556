/* Memory is cleared in one stream and used in another that does not wait for it. */
#include "try.cuh"

static __global__ void count(int *x) {
    atomicAdd(&x[threadIdx.x], 1); /* expect: stream race */
}

int main(void) {
    enum { N = 32 };
    int host[N], *x;
    cudaStream_t first, second;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    cudaStream_t clearing = second;
#else
    cudaStream_t clearing = first;
#endif
    TRY(cudaMemsetAsync(x, 0, sizeof host, clearing));
    count<<<1, N, 0, second>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaStreamDestroy(second));
    TRY(cudaStreamDestroy(first));
    TRY(cudaFree(x));
    return expect(host[N - 1], 1);
}
