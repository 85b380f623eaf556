/* Rank 1 uses a buffer of rank 0. Ranks share the simulator's process, and so a pointer could be
   passed on; started by mpirun, each has addresses of its own. */
#include "cudasim_ranks.h"
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

static float *last;
static double sum;

static void body(int rank, void *) {
    float host[N], *x = last;
    TRY(cudaSetDevice(0)); /* one for both */
#ifndef MENDED
    if (rank == 0)
#endif
        TRY(cudaMalloc(&x, sizeof host));
    last = x;
    fill<<<1, N>>>(x, 2); /* expect: memory of another rank */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    sum += checksum(host, N);
#ifdef MENDED
    TRY(cudaFree(x));
#endif
    (void)rank;
}

int main(void) {
    cudasim_ranks_run(2, body, NULL);
    return expect(sum, 2 * 2 * 2080);
}
