/* Thread 0 waits in a loop for a flag that thread 1 sets only after the next barrier, which thread
   0 cannot reach before. A GPU hangs. */
#include "try.cuh"

static __global__ void wait(volatile int *flag) {
#ifdef MENDED
    if (threadIdx.x == 1) {
        *flag = 1;
    }
    __syncthreads();
#else
    if (threadIdx.x == 0) {
        while (*flag == 0) { /* expect: timeout */
        }
    }
    __syncthreads();
    if (threadIdx.x == 1) {
        *flag = 1;
    }
#endif
}

int main(void) {
    int host, *flag;
    TRY(cudaMalloc(&flag, sizeof host));
    TRY(cudaMemset(flag, 0, sizeof host));
    wait<<<1, 32>>>(flag);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(&host, flag, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(flag));
    return expect(host, 1);
}
