/* The kernel walks a pitched array as if its rows lay side by side, and so reads the padding after
   the first row. */
#include "try.cuh"

enum { ROWS = 4, COLUMNS = 20 };

static __global__ void sum(float *out, const float *x, size_t pitch) {
    float all = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
#ifdef MENDED
        all += ((const float *)((const char *)x + i / COLUMNS * pitch))[i % COLUMNS];
#else
        (void)pitch;
        all += x[i]; /* expect: uninitialized device memory */
#endif
    }
    *out = all;
}

int main(void) {
    float host[ROWS * COLUMNS], result, *x, *out;
    size_t pitch;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        host[i] = 1;
    }
    TRY(cudaMallocPitch(&x, &pitch, COLUMNS * sizeof *x, ROWS));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy2D(x, pitch, host, COLUMNS * sizeof *x, COLUMNS * sizeof *x, ROWS,
                     cudaMemcpyHostToDevice));
    sum<<<1, 1>>>(out, x, pitch);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(result, ROWS * COLUMNS);
}
