/* A generator that is not simulated: it is named when it is made. */
#include <curand.h>

#include "try.cuh"
/* says: CURAND_RNG_PSEUDO_DEFAULT */

enum { N = 1000 };

int main(void) {
    float x[N];
    curandGenerator_t generator;
#ifdef MENDED
    curandRngType_t type = CURAND_RNG_PSEUDO_XORWOW;
#else
    curandRngType_t type = CURAND_RNG_QUASI_SOBOL32;
#endif
    TRY(curandCreateGeneratorHost(&generator, type)); /* expect: unsupported */
    TRY(curandGenerateUniform(generator, x, N));
    TRY(curandDestroyGenerator(generator));
    int inside = 0;
    for (int i = 0; i < N; i++) {
        inside += x[i] > 0 && x[i] <= 1;
    }
    return expect(inside, N);
}
