/* The last stage of a pipeline waits for one micro-batch more than the first one sends. On GPUs
   it waits forever. */
/* says: rank 0, which has not called ncclSend #3 */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    int receives = 2;
#else
    int receives = 3;
#endif
    for (int i = 0; i < (me->rank == 0 ? 2 : receives); i++) {
        if (me->rank == 0) {
            TRY(ncclSend(me->a + i, N, ncclFloat, 1, me->comm, me->stream));
        } else {
            /* expect: deadlock */
            TRY(ncclRecv(me->b + i * N, N, ncclFloat, 0, me->comm, me->stream));
        }
    }
    return fetched(me, me->rank == 0 ? me->a : me->b, 2 * N);
}

int main(void) {
    return expect(run_ranks(2, body), 2020);
}
