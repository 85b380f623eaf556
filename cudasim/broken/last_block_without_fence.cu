/* Each block stores a partial sum, and the last to count itself adds them up. Without a fence
   before the count, a GPU may show the count before the sums. */
#include "try.cuh"

enum { BLOCKS = 8, N = 64 };

static __global__ void sum(float *out, float *part, unsigned *finished, const float *x) {
    if (threadIdx.x == 0) {
        float s = 0;
        for (int i = 0; i < N / BLOCKS; i++) {
            s += x[blockIdx.x * (N / BLOCKS) + i];
        }
        part[blockIdx.x] = s;
#ifdef MENDED
        __threadfence();
#endif
        if (atomicInc(finished, BLOCKS - 1) == BLOCKS - 1) {
            float total = 0;
            for (int b = 0; b < BLOCKS; b++) {
                total += part[b]; /* expect: race */
            }
            out[0] = total;
        }
    }
}

int main(void) {
    float host[N], *x, *part, *out;
    unsigned *finished;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&part, BLOCKS * sizeof *part));
    TRY(cudaMalloc(&out, sizeof *out));
    TRY(cudaMalloc(&finished, sizeof *finished));
    TRY(cudaMemset(finished, 0, sizeof *finished));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    sum<<<BLOCKS, 32>>>(out, part, finished, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(finished));
    TRY(cudaFree(out));
    TRY(cudaFree(part));
    TRY(cudaFree(x));
    return expect(host[0], 2016);
}
