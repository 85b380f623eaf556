/* The result of an all-gather has as many elements as all ranks together send, and here there
   is room for those of one. On GPUs the others overwrite what comes after it. */
/* says: for each rank */
#include "ranks.cuh"

static double body(const Rank *me) {
    float *all;
#ifdef MENDED
    TRY(cudaMalloc(&all, me->ranks * N * sizeof(float)));
#else
    TRY(cudaMalloc(&all, N * sizeof(float)));
#endif
    /* expect: out-of-bounds access */
    TRY(ncclAllGather(me->a, all, N, ncclFloat, me->comm, me->stream));
    double result = fetched(me, all, 2 * N);
    TRY(cudaFree(all));
    return result;
}

int main(void) {
    return expect(run_ranks(2, body), 21120);
}
