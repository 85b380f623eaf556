/* Rank 1 frees a buffer of rank 0, of which it knows the address only here: as processes they could
   not. */
#include "cudasim_ranks.h"
#include "try.cuh"

static float *buffer[2];

static void body(int rank, void *) {
    TRY(cudaMalloc(&buffer[rank], 64));
    TRY(cudaMemset(buffer[rank], 0, 64));
#ifdef MENDED
    TRY(cudaFree(buffer[rank]));
#else
    TRY(rank == 1 ? cudaFree(buffer[0]) : cudaSuccess); /* expect: memory of another rank */
#endif
}

int main(void) {
    cudasim_ranks_run(2, body, NULL);
    return expect(0, 0);
}
