/* Half of a tile of 32 threads adds up by cooperative_groups::reduce(), which all of the tile must
   call. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "try.cuh"

namespace cg = cooperative_groups;

static __global__ void sum(int *out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int lane = (int)tile.thread_rank();
#ifdef MENDED
    int all = cg::reduce(tile, lane < 16 ? lane : 0, cg::plus<int>());
    if (lane == 0) {
        *out = all;
    }
#else
    if (lane < 16) {
        int all = cg::reduce(tile, lane, cg::plus<int>()); /* expect: undefined shuffle */
        if (lane == 0) {
            *out = all;
        }
    }
#endif
}

int main(void) {
    int host, *out;
    TRY(cudaMalloc(&out, sizeof host));
    sum<<<1, 32>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host, 120);
}
