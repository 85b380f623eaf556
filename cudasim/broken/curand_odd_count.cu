/* Normal numbers come in pairs, so an odd count fails, and nobody looks at the status. On a GPU the
   memory stays what it was before, here zeros. */
#include <curand.h>

#include "try.cuh"
/* says: 999 is odd */

enum { N = 999 };

int main(void) {
    float x[N], *device;
    curandGenerator_t generator;
    TRY(cudaMalloc(&device, (N + 1) * sizeof *device));
    TRY(cudaMemset(device, 0, (N + 1) * sizeof *device));
    TRY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
#ifdef MENDED
    TRY(curandGenerateNormal(generator, device, N + 1, 0, 1));
#else
    curandGenerateNormal(generator, device, N, 0, 1); /* expect: cuRAND argument */
#endif
    TRY(curandDestroyGenerator(generator));
    TRY(cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost));
    TRY(cudaFree(device));
    int drawn = 0;
    for (int i = 0; i < N; i++) {
        drawn += x[i] != 0;
    }
    return expect(drawn, N);
}
