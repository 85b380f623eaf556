/* Rank 0 alone asks for the sum of the losses, because it alone prints it. A collective is
   called by all ranks: on GPUs rank 0 waits forever. */
/* says: rank 1, which has not called ncclAllReduce #1 */
#include "ranks.cuh"

static double body(const Rank *me) {
    double result = 0;
#ifdef MENDED
    bool calls = true;
#else
    bool calls = me->rank == 0;
#endif
    if (calls) {
        /* expect: deadlock */
        TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
        result = fetched(me, me->b, N);
    }
    return me->rank == 0 ? result : 0;
}

int main(void) {
    return expect(run_ranks(2, body), 3936);
}
