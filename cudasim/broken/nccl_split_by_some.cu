/* The ranks that should have no part in the new communicator do not call ncclCommSplit. All
   ranks must, with NCCL_SPLIT_NOCOLOR: on GPUs the others wait forever. */
#include "ranks.cuh"

static double body(const Rank *me) {
    ncclComm_t first = NULL;
#ifdef MENDED
    bool calls = true;
#else
    bool calls = me->rank < 2;
#endif
    if (calls) {
        int color = me->rank < 2 ? 0 : NCCL_SPLIT_NOCOLOR;
        TRY(ncclCommSplit(me->comm, color, me->rank, &first, NULL)); /* expect: deadlock */
    }
    if (first == NULL) {
        return 0;
    }
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, first, me->stream));
    double result = fetched(me, me->b, N);
    TRY(ncclCommDestroy(first));
    return result;
}

int main(void) {
    return expect(run_ranks(3, body), 7872);
}
