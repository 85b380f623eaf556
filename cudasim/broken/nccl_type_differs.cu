/* One rank calls its numbers integers, which have as many bytes: the ranks agree on nothing but
   the length. On GPUs the sum means nothing, and there is no error. */
/* says: different types */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    ncclDataType_t type = ncclFloat;
#else
    ncclDataType_t type = me->rank == 0 ? ncclFloat : ncclInt;
#endif
    /* expect: collective mismatch */
    TRY(ncclAllReduce(me->a, me->b, N, type, ncclSum, me->comm, me->stream));
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
