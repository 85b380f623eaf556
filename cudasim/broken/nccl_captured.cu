/* A step with an all-reduce is captured in a graph. A GPU's NCCL can do that; the simulator
   cannot, and says so. */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifndef MENDED
    cudaGraph_t graph;
    TRY(cudaStreamBeginCapture(me->stream, cudaStreamCaptureModeThreadLocal));
#endif
    /* expect: unsupported */
    TRY(ncclAllReduce(me->a, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
#ifndef MENDED
    TRY(cudaStreamEndCapture(me->stream, &graph));
#endif
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
