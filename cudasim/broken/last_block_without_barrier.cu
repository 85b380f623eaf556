/* One thread learns that its block is the last, and tells the others through shared memory, without
   a barrier before they look. */
/* more reports follow */
#include "try.cuh"

enum { BLOCKS = 4, N = 64 };

static __global__ void sum(float *out, float *part, unsigned *finished) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicInc(finished, BLOCKS - 1) == BLOCKS - 1;
    }
#ifdef MENDED
    __syncthreads();
#endif
    if (last && threadIdx.x == N - 1) { /* expect: race */
        float all = 0;
        for (int b = 0; b < BLOCKS; b++) {
            all += part[b];
        }
        *out = all;
    }
}

int main(void) {
    float result, *part, *out;
    unsigned *finished;
    TRY(cudaMalloc(&part, BLOCKS * sizeof *part));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemset(out, 0, sizeof result));
    TRY(cudaMalloc(&finished, sizeof *finished));
    TRY(cudaMemset(finished, 0, sizeof *finished));
    sum<<<BLOCKS, N>>>(out, part, finished);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(finished));
    TRY(cudaFree(out));
    TRY(cudaFree(part));
    return expect(result, 6);
}
