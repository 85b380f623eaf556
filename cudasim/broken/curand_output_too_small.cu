/* The count is in bytes, as that of cudaMalloc, so the generator writes four times what the memory
   holds. On a GPU somebody else's buffer is overwritten, and nothing says so. */
#include <curand.h>

#include "try.cuh"
/* says: curandGenerateUniform */
/* says: the count is in bytes */

enum { N = 1000 };

int main(void) {
    float x[N], *device;
    curandGenerator_t generator;
    TRY(cudaMalloc(&device, N * sizeof *device));
    TRY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
#ifdef MENDED
    size_t count = N;
#else
    size_t count = N * sizeof *device;
#endif
    TRY(curandGenerateUniform(generator, device, count)); /* expect: out-of-bounds access */
    TRY(curandDestroyGenerator(generator));
    TRY(cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost));
    TRY(cudaFree(device));
    int inside = 0;
    for (int i = 0; i < N; i++) {
        inside += x[i] > 0 && x[i] <= 1;
    }
    return expect(inside, N);
}
