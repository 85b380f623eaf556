/* A stencil reads the element before the first, in the first buffer that the program has made. On
   a GPU that is some other memory, or an illegal address. */
/* says: address is 4 bytes before the start of allocation #1 */
#include "try.cuh"

enum { N = 64 };

static __global__ void difference(float *x) {
    int i = threadIdx.x;
    float before = 0;
#ifdef MENDED
    if (i > 0)
#endif
        before = x[i - 1]; /* expect: out-of-bounds access */
    __syncthreads();
    x[i] -= before;
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    difference<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2079);
}
