/* A shared array that is declared for the whole file is written by one function and read by
   another, with no barrier in between. */
/* says: address is in __shared__ row */
#include "try.cuh"

enum { N = 128 };

__shared__ float row[N];

static __device__ void load(const float *x) {
    row[threadIdx.x] = x[threadIdx.x];
}

static __global__ void reverse(float *out, const float *x) {
    load(x);
#ifdef MENDED
    __syncthreads();
#endif
    out[threadIdx.x] = row[N - 1 - threadIdx.x]; /* expect: race */
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, N * sizeof *out));
    reverse<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 349504);
}
