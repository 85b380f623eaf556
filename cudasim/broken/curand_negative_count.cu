/* The end of a part minus its begin, the wrong way round. The count is unsigned, and the host's
   generator would write until the stack ends. */
#include <curand.h>

#include "try.cuh"
/* says: 18446744073709551608 numbers fit into no memory */

enum { N = 16, BEGIN = 8 };

int main(void) {
    unsigned words[N] = {0};
    int begin = BEGIN, end = N;
    curandGenerator_t generator;
    TRY(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_XORWOW));
#ifdef MENDED
    TRY(curandGenerate(generator, words + begin, (size_t)(end - begin)));
#else
    curandGenerate(generator, words + begin, (size_t)(begin - end)); /* expect: cuRAND argument */
#endif
    TRY(curandDestroyGenerator(generator));
    int drawn = 0;
    for (int i = BEGIN; i < N; i++) {
        drawn += words[i] != 0;
    }
    return expect(drawn, N - BEGIN);
}
