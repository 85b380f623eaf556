/* Each rank makes a unique id for itself. One makes it, and the others must be told: on GPUs
   each rank waits for others with its own id. */
/* says: no such unique id */
#include "ranks.cuh"

static ncclUniqueId id; /* for the second communicator */

static double body(const Rank *me) {
    ncclComm_t second;
#ifdef MENDED
    ncclUniqueId mine = id;
#else
    ncclUniqueId mine;
    TRY(ncclGetUniqueId(&mine));
#endif
    TRY(ncclCommInitRank(&second, me->ranks, mine, me->rank)); /* expect: deadlock */
    int count;
    TRY(ncclCommCount(second, &count));
    TRY(ncclCommDestroy(second));
    return count;
}

int main(void) {
    TRY(ncclGetUniqueId(&id));
    return expect(run_ranks(2, body), 4);
}
