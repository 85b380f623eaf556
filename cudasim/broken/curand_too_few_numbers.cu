/* A kernel takes two numbers a point, and one was drawn for each. */
#include <curand.h>

#include "try.cuh"

enum { POINTS = 256 };

static __global__ void count_inside(int *count, const float *xy) {
    float x = xy[2 * threadIdx.x];     /* expect: uninitialized device memory */
    float y = xy[2 * threadIdx.x + 1]; /* more reports follow */
    atomicAdd(count, x > 0 && x <= 1 && y > 0 && y <= 1);
}

int main(void) {
    float *xy;
    int *count, inside;
    curandGenerator_t generator;
    TRY(cudaMalloc(&xy, 2 * POINTS * sizeof *xy));
    TRY(cudaMalloc(&count, sizeof *count));
    TRY(cudaMemset(count, 0, sizeof *count));
    TRY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
#ifdef MENDED
    TRY(curandGenerateUniform(generator, xy, 2 * POINTS));
#else
    TRY(curandGenerateUniform(generator, xy, POINTS));
#endif
    count_inside<<<1, POINTS>>>(count, xy);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&inside, count, sizeof inside, cudaMemcpyDeviceToHost));
    TRY(curandDestroyGenerator(generator));
    TRY(cudaFree(xy));
    TRY(cudaFree(count));
    return expect(inside, POINTS);
}
