/* Row times vocabulary is computed as an int, which ends at 2147483647; a batch of 64 times 1024
   tokens goes beyond. On a GPU the offset turns negative and the access goes astray. */
#include "try.cuh"

static __global__ void offsets(long long *offset, int rows, int V) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
#ifdef MENDED
        offset[row] = (long long)row * V;
#else
        offset[row] = row * V; /* expect: undefined behaviour */
#endif
    }
}

int main(void) {
    enum { ROWS = 64 * 1024, V = 50257 };
    long long last, *offset;
    TRY(cudaMalloc(&offset, ROWS * sizeof *offset));
    offsets<<<ROWS / 256, 256>>>(offset, ROWS, V);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&last, offset + ROWS - 1, sizeof last, cudaMemcpyDeviceToHost));
    TRY(cudaFree(offset));
    return expect((double)last, 65535.0 * V);
}
