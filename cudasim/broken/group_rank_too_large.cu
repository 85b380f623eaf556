/* Each lane of a coalesced group wants its neighbour's number, and the last one has none: a group
   smaller than a warp has no rank beyond its size, so that a GPU returns whatever there is. */
/* says: reads rank 5 of a group of 5 threads */
#include <cooperative_groups.h>

#include "try.cuh"

namespace cg = cooperative_groups;

__global__ void neighbours(int *x) {
    if (threadIdx.x < 5) {
        cg::coalesced_group group = cg::coalesced_threads();
        unsigned next = group.thread_rank() + 1;
#ifdef MENDED
        next = next % group.size();
#endif
        x[threadIdx.x] = group.shfl((int)threadIdx.x, next); /* expect: undefined shuffle */
    }
}

int main() {
    int *x, result[5], sum = 0;
    TRY(cudaMalloc(&x, sizeof result));
    neighbours<<<1, 32>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, x, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 5; i++) {
        sum += (i + 1) * result[i];
    }
    TRY(cudaFree(x));
    return expect(sum, 30);
}
