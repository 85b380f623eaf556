/* Rank 0 sends its boundary, and nobody receives it. On GPUs the send waits forever for the
   other side; there is no buffer in between. */
/* says: rank 1, which has not called ncclRecv #1 */
#include "ranks.cuh"

static double body(const Rank *me) {
    if (me->rank == 0) {
        /* expect: deadlock */
        TRY(ncclSend(me->a, N, ncclFloat, 1, me->comm, me->stream));
#ifdef MENDED
    } else {
        TRY(ncclRecv(me->b, N, ncclFloat, 0, me->comm, me->stream));
#endif
    }
    return fetched(me, me->rank == 0 ? me->a : me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 336);
}
