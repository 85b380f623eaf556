/* Width and height of a copy of rows are swapped: it has more rows than the matrix. */
#include "try.cuh"

static __global__ void count(float *x) {
    x[threadIdx.x] = threadIdx.x;
}

int main(void) {
    enum { ROWS = 4, COLUMNS = 8, PITCH = 16 };
    float host[ROWS * COLUMNS], *x;
    TRY(cudaMalloc(&x, ROWS * PITCH * sizeof *x));
    count<<<1, ROWS * PITCH>>>(x);
    TRY(cudaGetLastError());
#ifdef MENDED
    size_t width = COLUMNS * sizeof *x, height = ROWS;
#else
    size_t width = ROWS * sizeof *x, height = COLUMNS;
#endif
    size_t row = COLUMNS * sizeof *x, pitch = PITCH * sizeof *x;
    /* expect: out-of-bounds access */
    cudaMemcpy2D(host, row, x, pitch, width, height, cudaMemcpyDeviceToHost);
    TRY(cudaFree(x));
    return expect(host[COLUMNS], PITCH);
}
