/* An all-gather in place, and every rank sends what lies at the start of the buffer. Its own
   part must lie where it belongs, at rank * count: on GPUs rank 1's is overwritten by rank 0's. */
/* says: send = receive + rank * count */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    float *own = me->a + me->rank * N;
#else
    float *own = me->a;
#endif
    /* expect: NCCL argument */
    TRY(ncclAllGather(own, me->a, N, ncclFloat, me->comm, me->stream));
    return fetched(me, me->a, 2 * N);
}

int main(void) {
    return expect(run_ranks(2, body), 22720);
}
