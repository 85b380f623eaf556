/* The data do not divide: rank 0 has one batch more, and all-reduces once more. On GPUs it
   waits forever at the end of the epoch. */
/* says: its last call is ncclAllReduce #2 */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    int batches = 2;
#else
    int batches = 2 + (me->rank == 0);
#endif
    for (int batch = 0; batch < batches; batch++) {
        /* expect: deadlock */
        TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
        TRY(cudaStreamSynchronize(me->stream));
    }
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
