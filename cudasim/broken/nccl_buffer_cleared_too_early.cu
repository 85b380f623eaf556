/* The gradients are set to zero for the next step while their sum is still waiting in another
   stream. On GPUs zeros are summed, now and then. */
#include "ranks.cuh"

static double body(const Rank *me) {
    cudaStream_t compute;
    TRY(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
#ifdef MENDED
    cudaEvent_t summed;
    TRY(cudaEventCreate(&summed));
    TRY(cudaEventRecord(summed, me->stream));
    TRY(cudaStreamWaitEvent(compute, summed, 0));
#endif
    TRY(cudaMemsetAsync(me->a, 0, N * sizeof(float), compute)); /* expect: stream race */
    TRY(cudaStreamSynchronize(compute));
    double result = fetched(me, me->b, N);
    TRY(cudaStreamDestroy(compute));
    return result;
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
