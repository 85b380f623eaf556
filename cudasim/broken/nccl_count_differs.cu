/* Rank 0 all-reduces one element more than rank 1: the last one that its share of the data has.
   On GPUs the ranks wait for bytes that never come, or take those of the next call. */
/* says: different counts */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    int count = N;
#else
    int count = N + (me->rank == 0);
#endif
    /* expect: collective mismatch */
    TRY(ncclAllReduce(me->a, me->b, count, ncclFloat, ncclSum, me->comm, me->stream));
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
