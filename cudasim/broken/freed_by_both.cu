/* Memory is freed once in its stream's order and once more at the end of the program. */
#include "try.cuh"

int main(void) {
    float *x;
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMallocAsync(&x, 64, stream));
    TRY(cudaMemsetAsync(x, 0, 64, stream));
    TRY(cudaFreeAsync(x, stream));
#ifndef MENDED
    cudaFree(x); /* expect: double free */
#endif
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaStreamDestroy(stream));
    return expect(1, 1);
}
