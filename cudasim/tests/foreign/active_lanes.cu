/* The lanes that are together, lanes with equal values, and small operations on bytes. */
#include <cuda_runtime.h>

#include "check.cuh"

__device__ int warp_sum(int value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(__activemask(), value, distance);
    }
    return value;
}

/* One atomic for all lanes that come. */
__device__ int add_together(int *counter) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, lane = threadIdx.x % 32, first = 0;
    if (lane == leader) {
        first = atomicAdd(counter, __popc(active));
    }
    return __shfl_sync(active, first, leader) + __popc(active & ((1u << lane) - 1));
}

__global__ void look(int *out, int *counter, int *place) {
    int t = threadIdx.x, same;
    int sum = warp_sum(t);
    if (t % 32 == 0) {
        out[t / 32] = sum;
    }
    if (t % 3 == 0) {
        place[t / 3] = add_together(counter);
    }
    unsigned equal = __match_any_sync(0xffffffffu, t % 4);
    unsigned all = __match_all_sync(0xffffffffu, t / 32, &same);
    out[2 + t] = equal == 0x11111111u << t % 4 && all == 0xffffffffu && same;
    if (t == 0) {
        out[66] = (int)__byte_perm(0x33221100u, 0x77665544u, 0x7150u);
        out[67] = __dp4a(0x01FF0302, 0x02030405, 10);
        long long before = clock64();
        out[68] = clock64() >= before;
    }
}

int main() {
    int *out, *counter, *place, host[69], places[22], zero = 0;
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMalloc(&counter, sizeof zero));
    OK(cudaMalloc(&place, sizeof places));
    OK(cudaMemcpy(counter, &zero, sizeof zero, cudaMemcpyHostToDevice));
    look<<<1, 64>>>(out, counter, place);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(places, place, sizeof places, cudaMemcpyDeviceToHost));
    MUST(host[0] == 31 * 32 / 2 && host[1] == 31 * 32 / 2 + 32 * 32);
    for (int t = 0; t < 64; t++) {
        MUST(host[2 + t] == 1);
    }
    MUST(host[66] == 0x77115500 && host[67] == 10 + 10 + 12 - 3 + 2 && host[68] == 1);
    int seen[22] = {0};
    for (int i = 0; i < 22; i++) {
        MUST(places[i] >= 0 && places[i] < 22 && seen[places[i]]++ == 0);
    }
    OK(cudaFree(out));
    OK(cudaFree(counter));
    OK(cudaFree(place));
    return 0;
}
