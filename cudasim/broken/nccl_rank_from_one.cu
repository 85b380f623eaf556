/* Ranks are counted from 1. NCCL counts from 0, and returns an error to the last one; the
   others wait for rank 0. */
/* says: ranks are 0 to 1 */
#include "ranks.cuh"

static ncclUniqueId id; /* for the second communicator */

static double body(const Rank *me) {
    ncclComm_t second;
#ifdef MENDED
    int rank = me->rank;
#else
    int rank = me->rank + 1;
#endif
    TRY(ncclCommInitRank(&second, me->ranks, id, rank)); /* expect: NCCL argument */
    int count;
    TRY(ncclCommCount(second, &count));
    TRY(ncclCommDestroy(second));
    return count;
}

int main(void) {
    TRY(ncclGetUniqueId(&id));
    return expect(run_ranks(2, body), 4);
}
