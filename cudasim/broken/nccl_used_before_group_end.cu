/* The communicators are used within the group that makes them. They are made when it ends: on
   GPUs the handle is not set yet. */
/* devices: 2 */
#include <nccl.h>

#include "try.cuh"

int main(void) {
    ncclComm_t comm[2];
    ncclUniqueId id;
    int ranks = 0;
    TRY(ncclGetUniqueId(&id));
    TRY(ncclGroupStart());
    for (int r = 0; r < 2; r++) {
        TRY(cudaSetDevice(r));
        TRY(ncclCommInitRank(&comm[r], 2, id, r));
    }
#ifdef MENDED
    TRY(ncclGroupEnd());
#endif
#ifdef MENDED
    TRY(ncclGroupStart());
#endif
    for (int r = 0; r < 2; r++) {
        ncclBroadcast(NULL, NULL, 0, ncclFloat, 0, comm[r], NULL); /* expect: NCCL misuse */
    }
    ncclGroupEnd();
    for (int r = 0; r < 2; r++) {
        TRY(cudaSetDevice(r));
        TRY(cudaDeviceSynchronize());
    }
    TRY(ncclCommCount(comm[0], &ranks));
    for (int r = 0; r < 2; r++) {
        TRY(ncclCommDestroy(comm[r]));
    }
    return expect(ranks, 2);
}
