/* A generator of the host is given memory of the device, which the host cannot write. */
#include <curand.h>

#include "try.cuh"
/* says: a DEVICE pointer */

enum { N = 1000 };

int main(void) {
    double x[N], *device;
    curandGenerator_t generator;
    TRY(cudaMalloc(&device, sizeof x));
#ifdef MENDED
    TRY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
#else
    TRY(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
#endif
    TRY(curandGenerateUniformDouble(generator, device, N)); /* expect: cuRAND argument */
    TRY(curandDestroyGenerator(generator));
    TRY(cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost));
    TRY(cudaFree(device));
    int inside = 0;
    for (int i = 0; i < N; i++) {
        inside += x[i] > 0 && x[i] <= 1;
    }
    return expect(inside, N);
}
