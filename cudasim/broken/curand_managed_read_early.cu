/* The host reads numbers in managed memory that the generator's stream may not have written yet. */
#include <curand.h>

#include "try.cuh"

enum { N = 1000 };

int main(void) {
    float *x;
    curandGenerator_t generator;
    TRY(cudaMallocManaged(&x, N * sizeof *x));
    TRY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
    TRY(curandGenerateNormal(generator, x, N, 0, 1));
#ifdef MENDED
    TRY(cudaDeviceSynchronize());
#endif
    int small = 0;
    for (int i = 0; i < N; i++) {
        float number = x[i]; /* expect: pending kernel */
        small += number > -7 && number < 7;
    }
    TRY(curandDestroyGenerator(generator));
    TRY(cudaFree(x));
    return expect(small, N);
}
