/* Threads count into shared bins without an atomic. On a GPU two threads of a warp that hit the
   same bin count as one. */
/* says: use an atomic */
#include "try.cuh"

enum { BINS = 8, N = 256 };

static __global__ void histogram(int *out, const int *x) {
    __shared__ int bin[BINS];
    int i = threadIdx.x;
    if (i < BINS) {
        bin[i] = 0;
    }
    __syncthreads();
#ifdef MENDED
    atomicAdd(&bin[x[i] % BINS], 1);
#else
    bin[x[i] % BINS]++; /* expect: race */
#endif
    __syncthreads();
    if (i < BINS) {
        out[i] = bin[i];
    }
}

int main(void) {
    int host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, BINS * sizeof(int)));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    histogram<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, BINS * sizeof(int), cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[3], N / BINS);
}
