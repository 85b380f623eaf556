/* The host copies from memory that malloc() in a kernel has returned. It belongs to the heap of
   kernels, and no call of the host may use it: on a GPU, cudaMemcpy() fails. */
#include "try.cuh"

enum { N = 4 };

static __device__ float *kept;

static __global__ void make(void) {
    kept = (float *)malloc(N * sizeof *kept);
    for (int i = 0; i < N && kept != NULL; i++) {
        kept[i] = i;
    }
}

static __global__ void take(float *out) {
    for (int i = 0; i < N && kept != NULL; i++) {
        out[i] = kept[i];
    }
    free(kept);
}

int main(void) {
    float host[N] = {0}, *x;
    TRY(cudaMalloc(&x, sizeof host));
    make<<<1, 1>>>();
#ifdef MENDED
    take<<<1, 1>>>(x);
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
#else
    float *p;
    TRY(cudaMemcpyFromSymbol(&p, kept, sizeof p));
    (void)cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost); /* expect: invalid copy */
    take<<<1, 1>>>(x);
    TRY(cudaDeviceSynchronize());
#endif
    TRY(cudaFree(x));
    return expect(checksum(host, N), 20);
}
