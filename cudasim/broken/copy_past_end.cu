/* The number of bytes is multiplied by sizeof(float) once too often. On a GPU the copy fails with
   "invalid argument", or reads and writes three times as much behind the buffers. */
#include "try.cuh"

int main(void) {
    enum { N = 512, BYTES = N * sizeof(float) };
    static float host[4 * N], back[N];
    float *x;
    host[N - 1] = 1;
    TRY(cudaMalloc(&x, BYTES));
#ifdef MENDED
    TRY(cudaMemcpy(x, host, BYTES, cudaMemcpyHostToDevice));
#else
    TRY(cudaMemcpy(x, host, 4 * BYTES, cudaMemcpyHostToDevice)); /* expect: out-of-bounds access */
#endif
    TRY(cudaMemcpy(back, x, BYTES, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(back, N), 512);
}
