/* The communicator of a part of the ranks is destroyed after the first step, and used in the
   second. On GPUs NCCL reads what was freed. */
#include "ranks.cuh"

static double body(const Rank *me) {
    ncclComm_t pair;
    TRY(ncclCommSplit(me->comm, 0, me->rank, &pair, NULL));
    for (int step = 0; step < 2; step++) {
        /* expect: use after free */
        TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, pair, me->stream));
        TRY(cudaStreamSynchronize(me->stream));
#ifndef MENDED
        TRY(ncclCommDestroy(pair));
#endif
    }
#ifdef MENDED
    TRY(ncclCommDestroy(pair));
#endif
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
