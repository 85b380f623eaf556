/* Two ranks are asked for on one device. NCCL refuses that: a GPU has one rank of a
   communicator. */
/* devices: 2 */
/* says: both have device 0 */
#include <nccl.h>

#include "try.cuh"

int main(void) {
    ncclComm_t comm[2];
#ifdef MENDED
    const int devices[2] = {0, 1};
#else
    const int devices[2] = {0, 0};
#endif
    ncclResult_t result = ncclCommInitAll(comm, 2, devices); /* expect: NCCL argument */
    for (int r = 0; r < 2 && result == ncclSuccess; r++) {
        TRY(ncclCommDestroy(comm[r]));
    }
    return expect(result, ncclSuccess);
}
