/* In a ring of three each rank sends to the next one, and receives from the next one, too,
   instead of the one before. On GPUs all wait: nobody sends to where it is awaited. */
#include "ranks.cuh"

static double body(const Rank *me) {
    int next = (me->rank + 1) % me->ranks;
#ifdef MENDED
    int from = (me->rank + me->ranks - 1) % me->ranks;
#else
    int from = next;
#endif
    TRY(ncclGroupStart());
    /* expect: deadlock */
    TRY(ncclSend(me->a, N, ncclFloat, next, me->comm, me->stream));
    TRY(ncclRecv(me->b, N, ncclFloat, from, me->comm, me->stream));
    TRY(ncclGroupEnd());
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(3, body), 11304);
}
