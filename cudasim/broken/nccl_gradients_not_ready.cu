/* The gradients are all-reduced in a stream of its own, to overlap with the backward pass, and
   nothing makes it wait for the kernel that computes them. On GPUs the sum is of old numbers. */
#include "ranks.cuh"

__global__ void gradients(float *x, int rank) {
    x[threadIdx.x] = rank + 1;
}

static double body(const Rank *me) {
    cudaStream_t backward;
    cudaEvent_t ready;
    TRY(cudaStreamCreateWithFlags(&backward, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&ready));
    gradients<<<1, N, 0, backward>>>(me->b, me->rank);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaEventRecord(ready, backward));
    TRY(cudaStreamWaitEvent(me->stream, ready, 0));
#endif
    /* expect: stream race */
    TRY(ncclAllReduce(me->b, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
    double result = fetched(me, me->b, N);
    TRY(cudaStreamSynchronize(backward));
    TRY(cudaEventDestroy(ready));
    TRY(cudaStreamDestroy(backward));
    return result;
}

int main(void) {
    return expect(run_ranks(2, body), 216);
}
