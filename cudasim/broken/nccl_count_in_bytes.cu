/* The count is given in bytes, as for cudaMemcpy. NCCL counts elements: on GPUs four times as
   much memory is summed. */
/* says: count is in elements */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    size_t count = ROOM;
#else
    size_t count = ROOM * sizeof(float);
#endif
    /* expect: out-of-bounds access */
    TRY(ncclAllReduce(me->a, me->b, count, ncclFloat, ncclSum, me->comm, me->stream));
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 7872);
}
