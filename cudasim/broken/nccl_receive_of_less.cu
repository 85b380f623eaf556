/* The receiver expects half of what is sent: it counts rows, the sender elements. On GPUs the
   receive ends when it has enough, and the send never does. */
#include "ranks.cuh"

static double body(const Rank *me) {
    if (me->rank == 0) {
        TRY(ncclSend(me->a, N, ncclFloat, 1, me->comm, me->stream));
    } else {
#ifdef MENDED
        int count = N;
#else
        int count = N / 2;
#endif
        /* expect: collective mismatch */
        TRY(ncclRecv(me->b, count, ncclFloat, 0, me->comm, me->stream));
    }
    return fetched(me, me->rank == 0 ? me->a : me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 336);
}
