/* The block that comes last adds up the parts and resets the ticket, but no block has a fence
   between its part and its ticket. On a GPU the ticket may be seen before the part. */
#include "try.cuh"
/* more reports follow */

enum { BLOCKS = 8 };

static __device__ unsigned ticket;

static __global__ void sum(float *total, float *part) {
    if (threadIdx.x != 0) {
        return;
    }
    part[blockIdx.x] = blockIdx.x + 1;
#ifdef MENDED
    __threadfence();
#endif
    if (atomicAdd(&ticket, 1) == BLOCKS - 1) {
        float all = 0;
        for (int b = 0; b < BLOCKS; b++) {
            all += part[b]; /* expect: race */
        }
        *total = all;
        ticket = 0;
    }
}

int main(void) {
    float *total, *part, host;
    TRY(cudaMalloc(&total, sizeof *total));
    TRY(cudaMalloc(&part, BLOCKS * sizeof *part));
    for (int i = 0; i < 2; i++) {
        sum<<<BLOCKS, 32>>>(total, part);
        TRY(cudaGetLastError());
    }
    TRY(cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(part));
    TRY(cudaFree(total));
    return expect(host, 36);
}
