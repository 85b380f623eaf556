/* Rank 0 gathers the shards where the others scatter their sum: a branch took the wrong turn.
   On GPUs this hangs, or gives numbers that mean nothing. */
/* says: rank 0 calls ncclAllGather #1 */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    bool gathers = true;
#else
    bool gathers = me->rank == 0;
#endif
    if (gathers) {
        TRY(ncclAllGather(me->a, me->b, N, ncclFloat, me->comm, me->stream));
    } else {
        /* expect: collective mismatch */
        TRY(ncclReduceScatter(me->a, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
    }
    return fetched(me, me->b, 2 * N);
}

int main(void) {
    return expect(run_ranks(2, body), 21120);
}
