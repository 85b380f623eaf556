/* Each rank broadcasts its own weights: the root is `rank` instead of rank 0. On GPUs every
   rank waits to send, and none to receive. */
/* says: different roots */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    int root = 0;
#else
    int root = me->rank;
#endif
    /* expect: collective mismatch */
    TRY(ncclBroadcast(me->a, me->b, N, ncclFloat, root, me->comm, me->stream));
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 336);
}
