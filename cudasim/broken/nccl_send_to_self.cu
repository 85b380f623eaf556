/* Each rank sends to the one that has the next chunk, which is itself at the end, and receives
   afterwards. A send waits for its receive: outside of a group NCCL refuses this. */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    TRY(ncclGroupStart());
#endif
    /* expect: NCCL misuse */
    TRY(ncclSend(me->a, N, ncclFloat, me->rank, me->comm, me->stream));
    TRY(ncclRecv(me->b, N, ncclFloat, me->rank, me->comm, me->stream));
#ifdef MENDED
    TRY(ncclGroupEnd());
#endif
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 3936);
}
