/* A warp counts the pairs that it keeps, and all its lanes store theirs at the place of the first.
   One of them stays, on a GPU too; the rest of the list is what was there before. */
/* says: only one of the values stays */
#include "try.cuh"

enum { N = 64 };

struct Pair {
    int key, count;
};

static __global__ void keep(const Pair *in, Pair *out, int *length) {
    int lane = threadIdx.x % 32;
    bool kept = in[threadIdx.x].key % 4 == 0;
    unsigned lanes = __ballot_sync(~0u, kept);
    int first = 0;
    if (lane == 0) {
        first = atomicAdd(length, __popc(lanes));
    }
    first = __shfl_sync(~0u, first, 0);
    int rank = __popc(lanes & ((1u << lane) - 1));
#ifndef MENDED
    rank = 0;
#endif
    if (kept) {
        out[first + rank] = in[threadIdx.x]; /* expect: race */
    }
}

int main(void) {
    Pair host[N], *in, *out;
    int length = 0, *counted;
    for (int i = 0; i < N; i++) {
        host[i] = Pair{i, 1};
    }
    TRY(cudaMalloc(&in, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMalloc(&counted, sizeof length));
    TRY(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, sizeof host));
    TRY(cudaMemset(counted, 0, sizeof length));
    keep<<<1, N>>>(in, out, counted);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&length, counted, sizeof length, cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(in));
    TRY(cudaFree(out));
    TRY(cudaFree(counted));
    double sum = 0;
    for (int i = 0; i < length; i++) {
        sum += host[i].key;
    }
    return expect(sum, 480);
}
