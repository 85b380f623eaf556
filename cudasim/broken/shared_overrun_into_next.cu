/* A function fills n elements of a shared array that has fewer, through a pointer. On a GPU the
   rest lands in the next shared array, which is then wrong. */
#include "try.cuh"

enum { N = 32 };

static __device__ void fill(float *x, int n, float value) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        x[i] = value; /* expect: out-of-bounds access */
    }
}

static __global__ void sums(float *out) {
    __shared__ float ones[N];
    __shared__ float twos[N];
    fill(twos, N, 2);
    __syncthreads();
#ifdef MENDED
    fill(ones, N, 1);
#else
    fill(ones, 2 * N, 1);
#endif
    __syncthreads();
    out[threadIdx.x] = ones[threadIdx.x] + twos[threadIdx.x];
}

int main(void) {
    float host[N], *out;
    TRY(cudaMalloc(&out, sizeof host));
    sums<<<1, N>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 3 * 528);
}
