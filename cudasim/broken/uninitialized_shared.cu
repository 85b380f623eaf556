/* A counter in shared memory is not set to zero. On a GPU it begins with what the last block left
   there, so the first block may even be right. */
#include "try.cuh"

static __global__ void count_odd(int *out, const int *x) {
    __shared__ int odd;
#ifdef MENDED
    if (threadIdx.x == 0) {
        odd = 0;
    }
    __syncthreads();
#endif
    atomicAdd(&odd, x[threadIdx.x] % 2); /* expect: uninitialized shared memory */
    __syncthreads();
    if (threadIdx.x == 0) {
        *out = odd;
    }
}

int main(void) {
    enum { N = 64 };
    int host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof(int)));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    count_odd<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof(int), cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], N / 2);
}
