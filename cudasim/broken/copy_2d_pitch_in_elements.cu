/* The pitch of a copy of rows is given in elements instead of bytes. */
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
    size_t pitch = PITCH * sizeof *x;
#else
    size_t pitch = PITCH;
#endif
    size_t row = COLUMNS * sizeof *x;
    /* expect: invalid copy */
    cudaMemcpy2D(host, row, x, pitch, row, ROWS, cudaMemcpyDeviceToHost);
    TRY(cudaFree(x));
    return expect(host[COLUMNS], PITCH);
}
