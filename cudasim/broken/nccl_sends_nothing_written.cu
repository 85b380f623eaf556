/* The buckets of gradients are all-reduced before anything was stored in the second half. On
   GPUs what happens to be there is spread to all ranks. */
#include "ranks.cuh"

static double body(const Rank *me) {
    float *bucket;
    TRY(cudaMalloc(&bucket, 2 * N * sizeof(float)));
    TRY(cudaMemcpy(bucket, me->a, N * sizeof(float), cudaMemcpyDeviceToDevice));
#ifdef MENDED
    TRY(cudaMemset(bucket + N, 0, N * sizeof(float)));
#endif
    TRY(cudaDeviceSynchronize());
    /* expect: uninitialized device memory */
    TRY(ncclAllReduce(bucket, bucket, 2 * N, ncclFloat, ncclSum, me->comm, me->stream));
    double result = fetched(me, bucket, N);
    TRY(cudaFree(bucket));
    return result;
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
