/* The send buffer goes back to the pool in another stream than that of the all-reduce, which
   may not have begun. On GPUs others get the memory, and write in it. */
#include "ranks.cuh"

static double body(const Rank *me) {
    cudaStream_t compute;
    float *x;
    TRY(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    TRY(cudaMallocAsync(&x, N * sizeof(float), me->stream));
    TRY(cudaMemcpyAsync(x, me->a, N * sizeof(float), cudaMemcpyDeviceToDevice, me->stream));
    TRY(ncclAllReduce(x, me->b, N, ncclFloat, ncclSum, me->comm, me->stream));
#ifdef MENDED
    TRY(cudaStreamSynchronize(me->stream));
#endif
    TRY(cudaFreeAsync(x, compute)); /* expect: stream race */
    TRY(cudaStreamSynchronize(me->stream));
    double result = fetched(me, me->b, N);
    TRY(cudaStreamSynchronize(compute));
    TRY(cudaStreamDestroy(compute));
    return result;
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
