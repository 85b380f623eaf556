/* Two ranks exchange their edges, and both send first. A send ends when it is received, and
   what stands after it in the stream has not begun: on GPUs both wait forever. */
/* says: each waits for the next, and the last for the first */
#include "ranks.cuh"

static double body(const Rank *me) {
    int other = 1 - me->rank;
#ifdef MENDED
    TRY(ncclGroupStart());
#endif
    /* expect: deadlock */
    TRY(ncclSend(me->a, N, ncclFloat, other, me->comm, me->stream));
    TRY(ncclRecv(me->b, N, ncclFloat, other, me->comm, me->stream));
#ifdef MENDED
    TRY(ncclGroupEnd());
#endif
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 3936);
}
