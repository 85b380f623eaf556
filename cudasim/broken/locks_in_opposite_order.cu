/* Two blocks move something between two accounts, each with a lock: the one takes the first lock
   first, the other the second. When each has one, both wait for ever. */
/* says: two that are taken in opposite order */
#include "try.cuh"

__device__ void take(int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) { /* expect: timeout */
    }
    __threadfence();
}

__device__ void give_back(int *lock) {
    __threadfence();
    atomicExch(lock, 0);
}

/* Both blocks have a lock before one of them asks for its second: as it may happen on a GPU. */
__device__ int met;

__device__ void meet() {
    atomicAdd(&met, 1);
    while (atomicAdd(&met, 0) < 2) {
    }
}

__global__ void move(int *lock, volatile int *account) {
    int from = blockIdx.x, to = 1 - blockIdx.x;
#ifdef MENDED
    take(&lock[0]);
    take(&lock[1]);
#else
    take(&lock[from]);
    meet();
    take(&lock[to]);
#endif
    account[from] = account[from] - 10;
    account[to] = account[to] + 10;
    give_back(&lock[1]);
    give_back(&lock[0]);
}

int main() {
    int host[4] = {0, 0, 100, 100}, *lock;
    TRY(cudaMalloc(&lock, sizeof host));
    TRY(cudaMemcpy(lock, host, sizeof host, cudaMemcpyHostToDevice));
    move<<<2, 1>>>(lock, lock + 2);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, lock, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(lock));
    return expect(host[2], 100);
}
