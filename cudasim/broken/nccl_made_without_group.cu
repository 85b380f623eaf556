/* One thread makes the communicators of two devices, one after the other. ncclCommInitRank
   waits for all ranks: on GPUs the first call never returns. */
/* devices: 2 */
#include <nccl.h>

#include "try.cuh"

int main(void) {
    ncclComm_t comm[2];
    ncclUniqueId id;
    int ranks = 0;
    TRY(ncclGetUniqueId(&id));
#ifdef MENDED
    TRY(ncclGroupStart());
#endif
    for (int r = 0; r < 2; r++) {
        TRY(cudaSetDevice(r));
        TRY(ncclCommInitRank(&comm[r], 2, id, r)); /* expect: deadlock */
    }
#ifdef MENDED
    TRY(ncclGroupEnd());
#endif
    TRY(ncclCommCount(comm[0], &ranks));
    for (int r = 0; r < 2; r++) {
        TRY(ncclCommDestroy(comm[r]));
    }
    return expect(ranks, 2);
}
