/* Both halves of a buffer are to be pinned, and the first call has pinned all of it. The second
   fails, which nobody sees: the program takes both for its own, and would unpin both. */
#include "try.cuh"

enum { N = 64 };

static __global__ void twice(float *x) {
    x[threadIdx.x] *= 2;
}

int main(void) {
    static float host[2 * N];
    float *x;
    for (int i = 0; i < 2 * N; i++) {
        host[i] = 1;
    }
    if (cudaHostRegister(host, sizeof host, cudaHostRegisterDefault) != cudaSuccess) {
        return 1;
    }
#ifndef MENDED
    /* expect: unchecked error */
    cudaHostRegister(host + N, N * sizeof(float), cudaHostRegisterDefault);
#endif
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    twice<<<1, 2 * N>>>(x);
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaHostUnregister(host));
    TRY(cudaFree(x));
    return expect(checksum(host, 2 * N), 2 * 8256);
}
