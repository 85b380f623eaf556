/* Two communicators in one stream: rank 0 sums over the rows first and then over the columns,
   rank 1 the other way round. On GPUs each waits in a call that the other one has not come to. */
#include "ranks.cuh"

static double body(const Rank *me) {
    ncclComm_t rows;
    TRY(ncclCommSplit(me->comm, 0, me->rank, &rows, NULL));
#ifdef MENDED
    bool rows_first = true;
#else
    bool rows_first = me->rank == 0;
#endif
    ncclComm_t first = rows_first ? rows : me->comm, second = rows_first ? me->comm : rows;
    /* expect: deadlock */
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, first, me->stream));
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, second, me->stream));
    double result = fetched(me, me->b, N);
    TRY(ncclCommDestroy(rows));
    return result;
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
