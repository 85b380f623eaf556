/* The sum is copied back in the default stream, which does not wait for the stream of the
   all-reduce. On GPUs the host gets the old numbers, or the new ones, or some of both. */
#include "ranks.cuh"

static double body(const Rank *me) {
    float sum[N];
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
#ifdef MENDED
    TRY(cudaStreamSynchronize(me->stream));
#endif
    /* expect: stream race */
    TRY(cudaMemcpy(sum, me->b, sizeof sum, cudaMemcpyDeviceToHost));
    TRY(cudaStreamSynchronize(me->stream));
    return checksum(sum, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
