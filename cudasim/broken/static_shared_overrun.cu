/* The array in shared memory has an element too few for the last index. On a GPU the store lands in
   whatever the compiler put behind it. */
#include "try.cuh"

enum { N = 64 };

static __global__ void shift(float *x) {
#ifdef MENDED
    __shared__ float copy[N + 1];
#else
    __shared__ float copy[N];
#endif
    int i = threadIdx.x;
    copy[i + 1] = x[i]; /* expect: out-of-bounds access */
    __syncthreads();
    if (i > 0) {
        x[i] = copy[i];
    }
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    shift<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 85281);
}
