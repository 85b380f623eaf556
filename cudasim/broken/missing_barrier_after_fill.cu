/* A thread reads what another thread stores, without a barrier in between. On a GPU the threads of
   other warps may not have stored yet: the result depends on who was faster. */
/* says: a __syncthreads() is missing */
#include "try.cuh"

enum { N = 128 };

static __global__ void reverse(float *x) {
    __shared__ float copy[N];
    int i = threadIdx.x;
    copy[i] = x[i];
#ifdef MENDED
    __syncthreads();
#endif
    x[i] = copy[N - 1 - i]; /* expect: race */
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    reverse<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 349504);
}
