/* A tree of sums whose steps are not separated by a barrier. On a GPU a warp may add a partial sum
   that is not finished yet. */
#include "try.cuh"

enum { THREADS = 256 };

static __global__ void sum(float *out, const float *x) {
    __shared__ float part[THREADS];
    int i = threadIdx.x;
    part[i] = x[i];
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (i < step) {
            part[i] += part[i + step]; /* expect: race */
        }
#ifdef MENDED
        __syncthreads();
#endif
    }
    if (i == 0) {
        out[0] = part[0];
    }
}

int main(void) {
    float host[THREADS], *x, *out;
    for (int i = 0; i < THREADS; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof(float)));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    sum<<<1, THREADS>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 32640);
}
