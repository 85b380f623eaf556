/* One unique id for two communicators. Each needs one of its own: on GPUs the second one is
   never made. */
/* says: has made a communicator already */
#include "ranks.cuh"

static ncclUniqueId id; /* for the second communicator */

static double body(const Rank *me) {
    ncclComm_t second;
#ifndef MENDED
    ncclComm_t first;
    TRY(ncclCommInitRank(&first, me->ranks, id, me->rank));
#endif
    TRY(ncclCommInitRank(&second, me->ranks, id, me->rank)); /* expect: NCCL argument */
    int count;
    TRY(ncclCommCount(second, &count));
    TRY(ncclCommDestroy(second));
    return count;
}

int main(void) {
    TRY(ncclGetUniqueId(&id));
    return expect(run_ranks(2, body), 4);
}
