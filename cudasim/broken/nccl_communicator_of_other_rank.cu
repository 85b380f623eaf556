/* The communicators lie in one array, and each rank takes the first. It belongs to rank 0: on
   GPUs two threads call for one rank, and none for the other. */
#include "ranks.cuh"

static ncclComm_t shared[2]; /* of all ranks */

static double body(const Rank *me) {
    shared[me->rank] = me->comm;
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
    TRY(cudaStreamSynchronize(me->stream));
#ifdef MENDED
    ncclComm_t comm = shared[me->rank];
#else
    ncclComm_t comm = shared[0];
#endif
    /* expect: NCCL misuse */
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, comm, me->stream));
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
