/* The sum of the losses lies in managed memory, and the host reads it as soon as the call has
   returned. On GPUs it gets the old number, or a part of the sum. */
/* says: ncclAllReduce */
#include "ranks.cuh"

static double body(const Rank *me) {
    float *loss;
    TRY(cudaMallocManaged((void **)&loss, sizeof *loss));
    *loss = me->rank + 1;
    TRY(ncclAllReduce(loss, loss, 1, ncclFloat, ncclSum, me->comm, me->stream));
#ifdef MENDED
    TRY(cudaStreamSynchronize(me->stream));
#endif
    double sum = *loss; /* expect: pending kernel */
    TRY(cudaFree(loss));
    return sum;
}

int main(void) {
    return expect(run_ranks(2, body), 6);
}
