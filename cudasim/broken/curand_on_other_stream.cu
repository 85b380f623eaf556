/* The generator draws in a stream of its own, which does not wait for the default one, and the copy
   back does not wait for it. On a GPU the copy may be faster. */
#include <curand.h>

#include "try.cuh"

enum { N = 1000 };

int main(void) {
    float x[N], *device;
    curandGenerator_t generator;
    cudaStream_t stream;
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaMalloc(&device, sizeof x));
    TRY(cudaMemset(device, 0, sizeof x));
    TRY(cudaDeviceSynchronize());
    TRY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
    TRY(curandSetStream(generator, stream));
    TRY(curandGenerateUniform(generator, device, N));
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
#endif
    TRY(cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost)); /* expect: stream race */
    TRY(cudaDeviceSynchronize());
    TRY(curandDestroyGenerator(generator));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaFree(device));
    int inside = 0;
    for (int i = 0; i < N; i++) {
        inside += x[i] > 0 && x[i] <= 1;
    }
    return expect(inside, N);
}
