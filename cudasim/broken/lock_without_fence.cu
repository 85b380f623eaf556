/* A lock guards a sum, but no fence stands before it is given back. On a GPU the next owner may
   take the lock and not yet see the new sum. */
#include "try.cuh"

static __global__ void add(float *sum, int *lock) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        sum[0] += blockIdx.x; /* expect: race */
#ifdef MENDED
        __threadfence();
#endif
        atomicExch(lock, 0);
    }
}

int main(void) {
    float host, *sum;
    int *lock;
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMalloc(&lock, sizeof *lock));
    TRY(cudaMemset(sum, 0, sizeof host));
    TRY(cudaMemset(lock, 0, sizeof *lock));
    add<<<16, 32>>>(sum, lock);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(lock));
    TRY(cudaFree(sum));
    return expect(host, 120);
}
