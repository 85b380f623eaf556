/* A generator of the host writes past what malloc() has given: there are two coordinates to each of
   the points. */
#include <curand.h>

#include "try.cuh"
/* says: curandGenerate */

enum { POINTS = 1000 };

int main(void) {
    curandGenerator_t generator;
#ifdef MENDED
    unsigned *xy = (unsigned *)malloc(2 * POINTS * sizeof *xy);
#else
    unsigned *xy = (unsigned *)malloc(POINTS * sizeof *xy);
#endif
    TRY(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_DEFAULT));
    TRY(curandGenerate(generator, xy, 2 * POINTS)); /* expect: out-of-bounds access */
    TRY(curandDestroyGenerator(generator));
    int differ = 0;
    for (int i = 0; i < POINTS; i++) {
        differ += xy[2 * i] != xy[2 * i + 1];
    }
    free(xy);
    return expect(differ, POINTS);
}
