/* Every rank passes a chunk to the next one and then takes one from the last, as in a ring
   all-reduce, but without a group: each send waits for a receive that stands after another
   send. On GPUs the ring stands still. */
#include "ranks.cuh"

static double body(const Rank *me) {
    int next = (me->rank + 1) % me->ranks, last = (me->rank + me->ranks - 1) % me->ranks;
#ifdef MENDED
    TRY(ncclGroupStart());
#endif
    /* expect: deadlock */
    TRY(ncclSend(me->a, N, ncclFloat, next, me->comm, me->stream));
    TRY(ncclRecv(me->b, N, ncclFloat, last, me->comm, me->stream));
#ifdef MENDED
    TRY(ncclGroupEnd());
#endif
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(4, body), 22272);
}
