/* Rank 0 sends and then sums, rank 1 sums and then receives: in its stream the sum stands
   first. On GPUs the send waits for the receive, which waits for the sum, which waits for the
   send. */
#include "ranks.cuh"

static double body(const Rank *me) {
    if (me->rank == 0) {
        /* expect: deadlock */
        TRY(ncclSend(me->a, N, ncclFloat, 1, me->comm, me->stream));
    }
#ifdef MENDED
    if (me->rank == 1) {
        TRY(ncclRecv(me->b, N, ncclFloat, 0, me->comm, me->stream));
    }
#endif
    TRY(ncclAllReduce(me->a, me->a, N, ncclFloat, ncclSum, me->comm, me->stream));
#ifndef MENDED
    if (me->rank == 1) {
        TRY(ncclRecv(me->b, N, ncclFloat, 0, me->comm, me->stream));
    }
#endif
    return fetched(me, me->a, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
