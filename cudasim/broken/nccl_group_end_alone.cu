/* A group is ended that was not begun: the start is in a branch that is not taken. On GPUs
   ncclGroupEnd returns an error. */
#include "ranks.cuh"

static double body(const Rank *me) {
    int other = 1 - me->rank;
#ifdef MENDED
    TRY(ncclGroupStart());
#endif
    if (me->rank == 0) {
        TRY(ncclSend(me->a, N, ncclFloat, other, me->comm, me->stream));
    } else {
        TRY(ncclRecv(me->b, N, ncclFloat, other, me->comm, me->stream));
    }
    TRY(ncclGroupEnd()); /* expect: NCCL misuse */
    return fetched(me, me->rank == 0 ? me->a : me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 336);
}
