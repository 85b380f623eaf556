/* Rank 0 asks for the average of the losses, the others for their sum. On GPUs each rank does
   what it was told with what it is sent: all ranks go on, with different numbers. */
/* says: different operations */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    ncclRedOp_t op = ncclSum;
#else
    ncclRedOp_t op = me->rank == 0 ? ncclAvg : ncclSum;
#endif
    /* expect: collective mismatch */
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, op, me->comm, me->stream));
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
