/* The numbers begin after a header of two bytes. On GPUs an address of a float that is not a
   multiple of four is a fault. */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    float *first = me->a + 1;
#else
    float *first = (float *)((char *)me->a + 2);
#endif
    /* expect: NCCL argument */
    TRY(ncclAllReduce(first, first, N, ncclFloat, ncclSum, me->comm, me->stream));
    return fetched(me, me->a + 1, N);
}

int main(void) {
    return expect(run_ranks(2, body), 8016);
}
