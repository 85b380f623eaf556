/* Gradients are all-reduced in the order in which they become ready, and that differs between
   ranks. On GPUs this hangs where the counts differ; where they are the same, the sums are
   those of different layers, without an error. */
#include "ranks.cuh"

static double body(const Rank *me) {
    float *weight = me->a, *bias = me->a + N;
#ifndef MENDED
    if (me->rank == 1) {
        /* expect: collective mismatch */
        TRY(ncclAllReduce(bias, bias, 2, ncclFloat, ncclSum, me->comm, me->stream));
        TRY(ncclAllReduce(weight, weight, N, ncclFloat, ncclSum, me->comm, me->stream));
        return fetched(me, me->a, N);
    }
#endif
    TRY(ncclAllReduce(weight, weight, N, ncclFloat, ncclSum, me->comm, me->stream));
    TRY(ncclAllReduce(bias, bias, 2, ncclFloat, ncclSum, me->comm, me->stream));
    return fetched(me, me->a, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
