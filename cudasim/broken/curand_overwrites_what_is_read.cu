/* The next numbers are drawn into the buffer in a second stream while a kernel of the first may
   still read those before. */
#include <curand.h>

#include "try.cuh"

enum { N = 256 };

static __global__ void count_inside(int *count, const float *x) {
    atomicAdd(count, x[threadIdx.x] > 0 && x[threadIdx.x] <= 1);
}

int main(void) {
    float *x;
    int *count, inside;
    curandGenerator_t generator;
    cudaStream_t drawing, counting;
    cudaEvent_t drawn, counted;
    TRY(cudaStreamCreateWithFlags(&drawing, cudaStreamNonBlocking));
    TRY(cudaStreamCreateWithFlags(&counting, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&drawn));
    TRY(cudaEventCreate(&counted));
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&count, sizeof *count));
    TRY(cudaMemset(count, 0, sizeof *count));
    TRY(cudaDeviceSynchronize());
    TRY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    TRY(curandSetStream(generator, drawing));
    for (int i = 0; i < 2; i++) {
        TRY(curandGenerateUniform(generator, x, N)); /* expect: stream race */
        TRY(cudaEventRecord(drawn, drawing));
        TRY(cudaStreamWaitEvent(counting, drawn, 0));
        count_inside<<<1, N, 0, counting>>>(count, x);
        TRY(cudaGetLastError());
#ifdef MENDED
        TRY(cudaEventRecord(counted, counting));
        TRY(cudaStreamWaitEvent(drawing, counted, 0));
#endif
    }
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(&inside, count, sizeof inside, cudaMemcpyDeviceToHost));
    TRY(curandDestroyGenerator(generator));
    TRY(cudaStreamDestroy(drawing));
    TRY(cudaStreamDestroy(counting));
    TRY(cudaEventDestroy(drawn));
    TRY(cudaEventDestroy(counted));
    TRY(cudaFree(x));
    TRY(cudaFree(count));
    return expect(inside, 2 * N);
}
