/* One generator serves two devices. A generator belongs to the device that was current when it was
   created. */
/* devices: 2 */
#include <curand.h>

#include "try.cuh"

int main(void) {
    curandGenerator_t generator[2];
    int inside = 0;
    for (int device = 0; device < 2; device++) {
        float *x, host[2];
        TRY(cudaSetDevice(device));
        TRY(curandCreateGenerator(&generator[device], CURAND_RNG_PSEUDO_DEFAULT));
        TRY(cudaMalloc(&x, sizeof host));
#ifdef MENDED
        curandGenerator_t own = generator[device];
#else
        curandGenerator_t own = generator[0];
#endif
        TRY(curandGenerateUniform(own, x, 2)); /* expect: cuRAND argument */
        TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
        TRY(cudaFree(x));
        inside += host[0] > 0 && host[0] <= 1;
    }
    TRY(curandDestroyGenerator(generator[0]));
    TRY(curandDestroyGenerator(generator[1]));
    return expect(inside, 2);
}
