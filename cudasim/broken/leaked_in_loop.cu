/* A loss is computed in a buffer that each step takes anew and none gives back. Nothing goes wrong
   for a while; a GPU with 80 GB ends the run with "out of memory" after the millionth step. */
#include "try.cuh"
/* says: 1200 bytes, of 3 calls, never given back */

enum { STEPS = 3, N = 100 };

static __global__ void square(float *loss, const float *x) {
    loss[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
}

static float step(const float *x) {
    float *loss, first;
    TRY(cudaMalloc((void **)&loss, N * sizeof *loss)); /* expect: leak */
    square<<<1, N>>>(loss, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&first, loss, sizeof first, cudaMemcpyDeviceToHost));
#ifdef MENDED
    TRY(cudaFree(loss));
#endif
    return first;
}

int main(void) {
    float host[N], *x, sum = 0;
    for (int i = 0; i < N; i++) {
        host[i] = (float)(i + 2);
    }
    TRY(cudaMalloc((void **)&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    for (int s = 0; s < STEPS; s++) {
        sum += step(x);
    }
    TRY(cudaFree(x));
    return expect(sum, 12);
}
