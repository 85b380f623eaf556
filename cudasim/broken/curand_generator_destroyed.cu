/* A generator is destroyed by a clean-up function and used once more. */
#include <curand.h>

#include "try.cuh"
/* says: the generator was destroyed before */

enum { N = 1000 };

int main(void) {
    unsigned x[N];
    curandGenerator_t generator;
    TRY(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
#ifndef MENDED
    TRY(curandDestroyGenerator(generator));
#endif
    curandStatus_t status = curandGenerate(generator, x, N); /* expect: use after free */
#ifdef MENDED
    TRY(curandDestroyGenerator(generator));
#endif
    return expect(status, 0);
}
