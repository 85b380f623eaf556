/* A warp fills a buffer, and one of its lanes gives the sign to the next warp before the others
   have met it. On a GPU the next warp may read what these lanes have not stored yet. */
#include "try.cuh"

enum { N = 32 };

static __global__ void hand_over(int *out) {
    __shared__ int buffer[N], ready;
    int lane = (int)threadIdx.x % N;
    if (threadIdx.x == 0) {
        ready = 0;
    }
    __syncthreads();
    if (threadIdx.x < N) {
        buffer[lane] = lane;
#ifdef MENDED
        __syncwarp();
#endif
        if (lane == 0) {
            __threadfence_block();
            atomicExch(&ready, 1);
        }
    } else {
        if (lane == 0) {
            while (atomicAdd(&ready, 0) == 0) {
            }
            __threadfence_block();
        }
        __syncwarp();
        out[lane] = buffer[N - 1 - lane]; /* expect: race */
    }
}

int main(void) {
    int *device, host[N], wrong = 0;
    TRY(cudaMalloc(&device, sizeof host));
    hand_over<<<1, 2 * N>>>(device);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(device));
    for (int i = 0; i < N; i++) {
        wrong += host[i] != N - 1 - i;
    }
    return expect(wrong, 0);
}
