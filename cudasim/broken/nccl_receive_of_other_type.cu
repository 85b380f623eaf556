/* Activations are sent as fp16 and received as bf16: as many bytes, other numbers. On GPUs
   nobody notices. */
#include "ranks.cuh"

static double body(const Rank *me) {
    if (me->rank == 0) {
        TRY(ncclSend(me->a, 2 * N, ncclHalf, 1, me->comm, me->stream));
    } else {
#ifdef MENDED
        ncclDataType_t type = ncclHalf;
#else
        ncclDataType_t type = ncclBfloat16;
#endif
        /* expect: collective mismatch */
        TRY(ncclRecv(me->b, 2 * N, type, 0, me->comm, me->stream));
    }
    return fetched(me, me->rank == 0 ? me->a : me->b, N);
}

int main(void) {
    return expect(run_ranks(2, body), 336);
}
