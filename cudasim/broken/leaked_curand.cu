/* Each step makes a generator of its own. A generator holds its state on the device until it is
   destroyed. */
#include <curand.h>

#include "try.cuh"
/* says: what it made was never destroyed, of 3 calls */

enum { N = 1000, STEPS = 3 };

static void draw(float *x, unsigned long long seed) {
    curandGenerator_t generator;
    TRY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT)); /* expect: leak */
    TRY(curandSetPseudoRandomGeneratorSeed(generator, seed));
    TRY(curandGenerateUniform(generator, x, N));
#ifdef MENDED
    TRY(curandDestroyGenerator(generator));
#endif
}

int main(void) {
    float x[N], *device;
    TRY(cudaMalloc(&device, sizeof x));
    for (int i = 0; i < STEPS; i++) {
        draw(device, i);
    }
    TRY(cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost));
    TRY(cudaFree(device));
    int inside = 0;
    for (int i = 0; i < N; i++) {
        inside += x[i] > 0 && x[i] <= 1;
    }
    return expect(inside, N);
}
