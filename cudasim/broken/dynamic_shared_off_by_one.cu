/* One element too few of dynamic shared memory. A GPU rounds the size up, so the mistake shows only
   with another size, or on another GPU. */
#include "try.cuh"

enum { N = 64 };

static __global__ void shift(float *x) {
    extern __shared__ float copy[];
    int i = threadIdx.x;
    copy[i] = x[i]; /* expect: out-of-bounds access */
    __syncthreads();
    if (i > 0) {
        x[i] = copy[i - 1];
    }
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    shift<<<1, N, N * sizeof(float)>>>(x);
#else
    shift<<<1, N, (N - 1) * sizeof(float)>>>(x);
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 85281);
}
