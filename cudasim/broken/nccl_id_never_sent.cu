/* Rank 0 makes the unique id, and the others use what their variable had: zeros. On GPUs they
   look for rank 0 at an address that is none. */
/* says: not one that ncclGetUniqueId has made */
#include "ranks.cuh"

static ncclUniqueId id; /* for the second communicator */

static double body(const Rank *me) {
    ncclComm_t second;
#ifdef MENDED
    ncclUniqueId mine = id;
#else
    ncclUniqueId mine = me->rank == 0 ? id : (ncclUniqueId){{0}};
#endif
    TRY(ncclCommInitRank(&second, me->ranks, mine, me->rank)); /* expect: NCCL argument */
    int count;
    TRY(ncclCommCount(second, &count));
    TRY(ncclCommDestroy(second));
    return count;
}

int main(void) {
    TRY(ncclGetUniqueId(&id));
    return expect(run_ranks(2, body), 4);
}
