/* The numbers are wanted on the host, and the generator is one of the device: on a GPU its kernel
   writes to an address that is not the device's. */
#include <curand.h>

#include "try.cuh"
/* says: curandCreateGeneratorHost() */

enum { N = 1000 };

int main(void) {
    float x[N];
    curandGenerator_t generator;
#ifdef MENDED
    TRY(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_DEFAULT));
#else
    TRY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
#endif
    TRY(curandSetPseudoRandomGeneratorSeed(generator, 1234ULL));
    TRY(curandGenerateUniform(generator, x, N)); /* expect: cuRAND argument */
    TRY(curandDestroyGenerator(generator));
    int inside = 0;
    for (int i = 0; i < N; i++) {
        inside += x[i] > 0 && x[i] <= 1;
    }
    return expect(inside, N);
}
