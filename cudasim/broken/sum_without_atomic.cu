/* All threads add to one float without an atomic. On a GPU most additions are lost, and the sum is
   another one at every run. */
/* says: use an atomic */
#include "try.cuh"

static __global__ void add(float *sum, const float *x) {
#ifdef MENDED
    atomicAdd(sum, x[threadIdx.x]);
#else
    sum[0] += x[threadIdx.x]; /* expect: race */
#endif
}

int main(void) {
    enum { N = 64 };
    float host[N], *x, *sum;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&sum, sizeof(float)));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemset(sum, 0, sizeof(float)));
    add<<<1, N>>>(sum, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, sum, sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(sum));
    TRY(cudaFree(x));
    return expect(host[0], 2016);
}
