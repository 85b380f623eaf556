/* The ranks do not agree on how many they are: one was started with another number. On GPUs all
   wait, or one gets an error. */
/* says: others with this unique id say that there are */
#include "ranks.cuh"

static ncclUniqueId id; /* for the second communicator */

static double body(const Rank *me) {
    ncclComm_t second;
#ifdef MENDED
    int ranks = me->ranks;
#else
    int ranks = me->ranks + me->rank;
#endif
    TRY(ncclCommInitRank(&second, ranks, id, me->rank)); /* expect: NCCL argument */
    int count;
    TRY(ncclCommCount(second, &count));
    TRY(ncclCommDestroy(second));
    return count;
}

int main(void) {
    TRY(ncclGetUniqueId(&id));
    return expect(run_ranks(2, body), 4);
}
