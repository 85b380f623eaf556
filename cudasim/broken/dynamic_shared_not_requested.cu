/* The kernel uses dynamic shared memory, and the launch does not ask for any. On a GPU the kernel
   dies with "an illegal memory access". */
/* more reports follow */
#include "try.cuh"

enum { N = 64 };

static __global__ void reverse(float *x) {
    extern __shared__ float copy[];
    int i = threadIdx.x;
    copy[i] = x[i]; /* expect: out-of-bounds access */
    __syncthreads();
    x[i] = copy[N - 1 - i];
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    reverse<<<1, N, N * sizeof(float)>>>(x);
#else
    reverse<<<1, N>>>(x);
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 43680);
}
