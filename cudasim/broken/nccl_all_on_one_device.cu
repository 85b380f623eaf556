/* Every rank chooses device 0 before it makes its communicator. NCCL refuses two ranks on one
   GPU. */
/* says: another rank has the same device */
#include "ranks.cuh"

static ncclUniqueId id; /* for the second communicator */

static double body(const Rank *me) {
    ncclComm_t second;
#ifdef MENDED
    TRY(cudaSetDevice(me->rank));
#else
    TRY(cudaSetDevice(0));
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
