/* Each thread takes 1 MiB in the kernel, of a heap that has 8 MiB unless cudaDeviceSetLimit() asks
   for more: malloc() returns NULL, and nobody looks. */
#include "try.cuh"

enum { N = 32, BYTES = 1 << 20 };

static __global__ void use(int *out) {
    int *x = (int *)malloc(BYTES);
    x[0] = (int)threadIdx.x; /* expect: null pointer */
    __syncthreads();
    out[threadIdx.x] = x[0];
    free(x);
}

int main(void) {
    int host[N], *out;
#ifdef MENDED
    TRY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
#endif
    TRY(cudaMalloc(&out, sizeof host));
    use<<<1, N>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host[31], 31);
}
