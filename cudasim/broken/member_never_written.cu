/* A kernel fills structures and forgets one of their members, which the host then reads: not the
   bytes between two members, which nobody has to write. */
#include "try.cuh"

enum { N = 64 };

struct Best {
    char kind;
    double value;
    int place;
};

static __global__ void fill(Best *best) {
    int i = threadIdx.x;
    best[i].kind = 'b';
    best[i].value = i;
#ifdef MENDED
    best[i].place = i;
#endif
}

int main(void) {
    Best host[N], *best;
    TRY(cudaMalloc(&best, sizeof host));
    fill<<<1, N>>>(best);
    TRY(cudaGetLastError());
    /* expect: uninitialized device memory */
    TRY(cudaMemcpy(host, best, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(best));
    return expect(host[N - 1].value + host[1].place, N);
}
