/* Numbers of 64 bits are asked of a generator that has none: there the call fails, and nobody looks
   at its status. */
#include <curand.h>

#include "try.cuh"

enum { N = 100 };

int main(void) {
    unsigned long long x[N] = {0};
    curandGenerator_t generator;
    TRY(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_DEFAULT));
#ifdef MENDED
    TRY(curandGenerate(generator, (unsigned *)x, 2 * N));
#else
    curandGenerateLongLong(generator, x, N); /* expect: cuRAND argument */
#endif
    TRY(curandDestroyGenerator(generator));
    int drawn = 0;
    for (int i = 0; i < N; i++) {
        drawn += x[i] >> 32 != 0;
    }
    return expect(drawn, N);
}
