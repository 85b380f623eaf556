/* The last block to finish adds up what the others have stored. Each fences with
   __threadfence_block(), which orders its stores for its own block alone. */
#include "try.cuh"

enum { BLOCKS = 4 };

static __global__ void sum(float *out, float *part, const float *x, unsigned *finished) {
    part[blockIdx.x] = x[blockIdx.x];
#ifdef MENDED
    __threadfence();
#else
    __threadfence_block();
#endif
    if (atomicInc(finished, BLOCKS - 1) == BLOCKS - 1) {
        float all = 0;
        for (int b = 0; b < BLOCKS; b++) {
            all += part[b]; /* expect: race */
        }
        *out = all;
    }
}

int main(void) {
    float host[BLOCKS] = {1, 2, 3, 4}, result, *x, *part, *out;
    unsigned *finished;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&part, sizeof host));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMalloc(&finished, sizeof *finished));
    TRY(cudaMemset(finished, 0, sizeof *finished));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    sum<<<BLOCKS, 1>>>(out, part, x, finished);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(finished));
    TRY(cudaFree(out));
    TRY(cudaFree(part));
    TRY(cudaFree(x));
    return expect(result, 10);
}
