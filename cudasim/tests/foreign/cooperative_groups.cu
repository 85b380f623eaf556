/* Cooperative groups: the block, its tiles, coalesced lanes, sums over a group. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include "check.cuh"

namespace cg = cooperative_groups;

enum { N = 256 };

template <unsigned Size>
__device__ int tile_sum(const cg::thread_block_tile<Size> &tile, int value) {
    for (unsigned distance = tile.size() / 2; distance > 0; distance /= 2) {
        value += tile.shfl_down(value, distance);
    }
    return tile.shfl(value, 0);
}

__device__ int any_sum(cg::thread_group group, int *scratch, int value) {
    unsigned rank = group.thread_rank();
    for (unsigned half = group.size() / 2; half > 0; half /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < half) {
            value += scratch[rank + half];
        }
        group.sync();
    }
    return value;
}

__global__ void sums(int *out, float *total, int *odd) {
    __shared__ float partial[N / 32];
    __shared__ int scratch[N];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<4> four = cg::tiled_partition<4>(warp);
    unsigned t = block.thread_rank();

    out[t] = tile_sum(four, (int)t);
    float sum = cg::reduce(warp, (float)t, cg::plus<float>());
    if (warp.thread_rank() == 0) {
        partial[warp.meta_group_rank()] = sum;
    }
    block.sync();
    if (warp.meta_group_rank() == 0) {
        float value = warp.thread_rank() < warp.meta_group_size() ? partial[warp.thread_rank()] : 0;
        value = cg::reduce(warp, value, cg::plus<float>{});
        if (t == 0) {
            *total = value;
        }
    }
    int all = any_sum(block, scratch, 1);
    int quarter = any_sum(cg::tiled_partition(block, 8), scratch + t / 8 * 8, 1);
    if (t == 0) {
        out[N] = all;
        out[N + 1] = quarter;
    }
    cg::sync(block);
    if (t % 2 == 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) {
            atomicAdd(odd, (int)active.size());
        }
        int largest = cg::reduce(active, (int)t, cg::greater<int>());
        atomicMax(odd + 1, largest);
    }
    int before = cg::exclusive_scan(warp, 2);
    int through = cg::inclusive_scan(warp, 2, cg::plus<int>());
    if (before != 2 * (int)warp.thread_rank() || through != before + 2) {
        atomicAdd(odd + 2, 1);
    }
    double wide = warp.shfl_xor((double)t, 1);
    unsigned votes = four.ballot(four.thread_rank() == 2);
    if (wide != (double)(t ^ 1) || votes != 4 || !four.any(four.thread_rank() == 3) ||
        four.all(four.thread_rank() == 3) || four.match_any(t / 2) == 0) {
        atomicAdd(odd + 2, 1);
    }
}

/* One thread of a group calls a function, and all of them get what it returns. */
__global__ void invoked(int *calls, int *bad) {
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    cg::invoke_one(block, [&] { atomicAdd(calls, 1); });
    cg::invoke_one(
        warp, [](int *at, int by) { atomicAdd(at, by); }, calls + 1, 10);
    struct Ticket {
        int number, caller[3];
    };
    Ticket ticket = cg::invoke_one_broadcast(warp, [&] {
        return Ticket{atomicAdd(calls + 2, 1), {(int)threadIdx.x, 0, 0}};
    });
    int low = cg::reduce(warp, ticket.number, cg::less<int>());
    int high = cg::reduce(warp, ticket.number, cg::greater<int>());
    if (low != high || ticket.caller[0] / 32 != (int)threadIdx.x / 32) {
        atomicAdd(bad, 1);
    }
    if (threadIdx.x % 3 == 1) {
        auto active = cg::coalesced_threads();
        int caller = cg::invoke_one_broadcast(active, [] { return (int)threadIdx.x; });
        if (caller % 3 != 1 || caller / 32 != (int)threadIdx.x / 32) {
            atomicAdd(bad, 1);
        }
    }
}

static void ask_invoked() {
    int *calls, counts[4];
    OK(cudaMalloc(&calls, sizeof counts));
    OK(cudaMemset(calls, 0, sizeof counts));
    invoked<<<2, 96>>>(calls, calls + 3);
    OK(cudaMemcpy(counts, calls, sizeof counts, cudaMemcpyDeviceToHost));
    MUST(counts[0] == 2 && counts[1] == 60 && counts[2] == 6 && counts[3] == 0);
    OK(cudaFree(calls));
}

int main() {
    int *out, *odd, host[N + 2], counts[3];
    float *total, sum;
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMalloc(&odd, sizeof counts));
    OK(cudaMalloc(&total, sizeof sum));
    OK(cudaMemset(odd, 0, sizeof counts));
    sums<<<1, N>>>(out, total, odd);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(counts, odd, sizeof counts, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        MUST(host[i] == 4 * (i / 4 * 4) + 6);
    }
    MUST(sum == N * (N - 1) / 2 && host[N] == N && host[N + 1] == 8);
    MUST(counts[0] == N / 2 && counts[1] == N - 1 && counts[2] == 0);
    ask_invoked();
    OK(cudaFree(out));
    OK(cudaFree(odd));
    OK(cudaFree(total));
    return 0;
}
