/* Rows come back from the device, and the host's are said to be as far apart as the device's: its
   array is too small for that, and what lies beside it on the stack is overwritten. */
/* says: the destination has 1920 bytes */
#include "try.cuh"

enum { WIDTH = 60, HEIGHT = 8 };

static __global__ void fill(float *x, size_t pitch) {
    float *row = (float *)((char *)x + blockIdx.x * pitch);
    row[threadIdx.x] = blockIdx.x;
}

int main() {
    float image[HEIGHT][WIDTH], *x;
    size_t pitch, row = sizeof image[0];
    TRY(cudaMallocPitch(&x, &pitch, row, HEIGHT));
    fill<<<HEIGHT, WIDTH>>>(x, pitch);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaMemcpy2D(image, row, x, pitch, row, HEIGHT, cudaMemcpyDeviceToHost));
#else
    /* expect: out-of-bounds access */
    TRY(cudaMemcpy2D(image, pitch, x, pitch, row, HEIGHT, cudaMemcpyDeviceToHost));
#endif
    TRY(cudaFree(x));
    return expect(image[HEIGHT - 1][WIDTH - 1], HEIGHT - 1);
}
