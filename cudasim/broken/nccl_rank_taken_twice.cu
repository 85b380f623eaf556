/* All ranks say that they are rank 0, as in a program that was written for one process. On GPUs
   all wait for rank 1. */
/* says: this rank has come before */
#include "ranks.cuh"

static ncclUniqueId id; /* for the second communicator */

static double body(const Rank *me) {
    ncclComm_t second;
#ifdef MENDED
    int rank = me->rank;
#else
    int rank = 0;
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
