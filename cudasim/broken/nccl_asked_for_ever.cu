/* A loop asks whether the sum is there, instead of waiting for it, and looks at nothing else. Rank
   1 has left early, so the sum never comes: on GPUs the loop never ends. */
/* says: rank 1, which has not called ncclAllReduce #1 */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    bool leaves = false;
#else
    bool leaves = me->rank == 1;
#endif
    if (leaves) {
        return 0;
    }
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
    while (cudaStreamQuery(me->stream) == cudaErrorNotReady) { /* expect: deadlock */
    }
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
