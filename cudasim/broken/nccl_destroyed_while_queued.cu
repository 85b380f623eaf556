/* The communicator is destroyed while its last call waits in its stream. On GPUs this is a hang
   or a fault, depending on how far the call has come. */
/* says: call cudaStreamSynchronize() for its stream before */
#include "ranks.cuh"

static double body(const Rank *me) {
    ncclComm_t pair;
    TRY(ncclCommSplit(me->comm, 0, me->rank, &pair, NULL));
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, pair, me->stream));
#ifdef MENDED
    TRY(cudaStreamSynchronize(me->stream));
#endif
    TRY(ncclCommDestroy(pair)); /* expect: NCCL misuse */
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
