/* The count of a reduce-scatter is what each rank receives; here it is the length of the whole
   array. On GPUs it reads past the end of what is sent. */
/* says: for each rank */
#include "ranks.cuh"

static double body(const Rank *me) {
#ifdef MENDED
    size_t count = ROOM / me->ranks;
#else
    size_t count = ROOM;
#endif
    /* expect: out-of-bounds access */
    TRY(ncclReduceScatter(me->a, me->b, count, ncclFloat, ncclSum, me->comm, me->stream));
    return fetched(me, me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 10176);
}
