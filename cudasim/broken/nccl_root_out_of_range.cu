/* The root is the last rank, counted from 1. On GPUs NCCL returns an error; who does not look
   at it goes on without the weights. */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    int root = me->ranks - 1;
#else
    int root = me->ranks;
#endif
    /* expect: NCCL argument */
    TRY(ncclBroadcast(me->a, me->b, N, ncclFloat, root, me->comm, me->stream));
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7536);
}
