/* An allocation fails, since it is larger than the device, and the program does not look. The
   kernel gets a null pointer. */
/* says: was its status checked? */
#include "try.cuh"

static __global__ void count(float *x) {
    x[threadIdx.x] = threadIdx.x; /* expect: null pointer */
}

int main(void) {
    enum { N = 32 };
    float host[N], *x = NULL;
#ifdef MENDED
    size_t bytes = N * sizeof *x;
#else
    size_t bytes = (size_t)1 << 50;
#endif
    cudaMalloc(&x, bytes);
    count<<<1, N>>>(x);
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 10912);
}
