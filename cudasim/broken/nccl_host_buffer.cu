/* The sum of the losses is asked for where the host has them. NCCL takes memory of the device:
   on GPUs it is an error or a fault, as the driver likes. */
/* says: HOST pointer */
#include "ranks.cuh"

static double body(const Rank *me) {
    float loss = me->rank + 1;
#ifdef MENDED
    TRY(cudaMemcpyAsync(me->a, &loss, sizeof loss, cudaMemcpyHostToDevice, me->stream));
    TRY(ncclAllReduce(me->a, me->a, 1, ncclFloat, ncclSum, me->comm, me->stream));
    return fetched(me, me->a, 1);
#else
    /* expect: NCCL argument */
    TRY(ncclAllReduce(&loss, &loss, 1, ncclFloat, ncclSum, me->comm, me->stream));
    TRY(cudaStreamSynchronize(me->stream));
    return loss;
#endif
}

int main(void) {
    return expect(run_ranks(2, body), 6);
}
