/* A thread takes the lock and never gives it back. On a GPU all others wait for ever. */
#include "try.cuh"

static __global__ void add(int *lock, volatile int *sum) {
    while (atomicCAS(lock, 0, 1) != 0) { /* expect: timeout */
    }
    __threadfence();
    *sum = *sum + 1;
    __threadfence();
#ifdef MENDED
    atomicExch(lock, 0);
#endif
}

int main(void) {
    int host[2], *lock;
    TRY(cudaMalloc(&lock, sizeof host));
    TRY(cudaMemset(lock, 0, sizeof host));
    add<<<4, 1>>>(lock, lock + 1);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, lock, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(lock));
    return expect(host[1], 4);
}
