/* The bytes of a matrix are a product of ints, 2^31, which no int holds: it comes out negative. */
/* two reports: the product, and the fill that it makes too long */
/* ordinary build: out-of-bounds access */
#include "try.cuh"

__global__ void fill(unsigned char *x, int count) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        x[i] = 3;
    }
}

int main(void) {
    enum { COLUMNS = 1 << 15, COUNT = 64 };
#ifdef MENDED
    volatile int rows = 4;
#else
    volatile int rows = 1 << 16;
#endif
    unsigned char host[COUNT], *x;
    TRY(cudaMalloc(&x, COLUMNS));
    fill<<<1, COUNT>>>(x, COUNT);
    /* expect: undefined behaviour */
    cudaMemset(x, 1, rows * COLUMNS / 4);
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[0], 1);
}
