/* Two ranks exchange their edges in a group, in place: what is sent lies where the other's is
   received. The calls of a group run side by side: on GPUs the other's bytes may come before
   one's own have left. */
/* says: give each memory of its own */
#include "ranks.cuh"

static double body(const Rank *me) {
    int other = 1 - me->rank;
#ifdef MENDED
    float *to = me->b;
#else
    float *to = me->a;
#endif
    TRY(ncclGroupStart());
    TRY(ncclSend(me->a, N, ncclFloat, other, me->comm, me->stream));
    /* expect: NCCL argument */
    TRY(ncclRecv(to, N, ncclFloat, other, me->comm, me->stream));
    TRY(ncclGroupEnd());
    return fetched(me, to, N);
}

int main(void) {
    return expect(run_ranks(2, body), 3936);
}
