/* Threads count in shared memory by an atomic, and one reads the count before all have counted. */
/* says: __syncthreads() */
#include "try.cuh"

enum { N = 64 };

static __global__ void positive(int *out, const float *x) {
    __shared__ int count;
    if (threadIdx.x == 0) {
        count = 0;
    }
    __syncthreads();
    if (x[threadIdx.x] > 0) {
        atomicAdd(&count, 1);
    }
#ifdef MENDED
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
        *out = count; /* expect: race */
    }
}

int main(void) {
    float host[N], *x;
    int result, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i % 2;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    positive<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(result, N / 2);
}
