/* A kernel declares two arrays of dynamic shared memory. Both begin at the same byte: the second
   overwrites the first, on a GPU too. */
#include "try.cuh"

enum { N = 64 };

static __global__ void weigh(float *out, const float *x) {
    extern __shared__ float value[];
#ifdef MENDED
    int *weight = (int *)(value + N);
#else
    extern __shared__ int weight[]; /* expect: overlapping arrays */
#endif
    int i = threadIdx.x;
    value[i] = x[i];
    __syncthreads();
    weight[N - 1 - i] = i;
    __syncthreads();
    out[i] = value[i] * weight[i];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    weigh<<<1, N, N *(sizeof(float) + sizeof(int))>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 1354080);
}
