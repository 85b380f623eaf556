/* The sum is stored one element further on than the numbers are read. In place means the same
   address: on GPUs some elements are summed twice. */
/* says: in place is send = receive */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    float *sum = me->a;
#else
    float *sum = me->a + 1;
#endif
    /* expect: NCCL argument */
    TRY(ncclAllReduce(me->a, sum, N, ncclFloat, ncclSum, me->comm, me->stream));
    return fetched(me, sum, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
