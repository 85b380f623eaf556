/* The communicator is destroyed by who has made it, and once more at the end. NCCL frees what
   is not its own any more. */
#include "ranks.cuh"

static double body(const Rank *me) {
    ncclComm_t pair;
    TRY(ncclCommSplit(me->comm, 0, me->rank, &pair, NULL));
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, pair, me->stream));
    double result = fetched(me, me->b, N);
    TRY(ncclCommDestroy(pair));
#ifndef MENDED
    TRY(ncclCommDestroy(pair)); /* expect: use after free */
#endif
    return result;
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
