/* The end of the group is in a branch that is not taken. What was called in the group is not
   even begun: on GPUs the stream is empty, and the old numbers are used. */
#include "ranks.cuh"

static double body(const Rank *me) {
    TRY(ncclGroupStart()); /* expect: NCCL misuse */
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
#ifdef MENDED
    TRY(ncclGroupEnd());
#else
    if (me->rank == me->ranks) {
        TRY(ncclGroupEnd());
    }
#endif
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
