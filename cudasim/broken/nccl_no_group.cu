/* One thread calls for two devices, one after the other. NCCL may wait for the other rank
   within the first call: on GPUs the second may never be made. */
/* devices: 2 */
/* says: call both between ncclGroupStart() and ncclGroupEnd() */
#include <nccl.h>

#include "try.cuh"

enum { R = 2, N = 8 };

int main(void) {
    ncclComm_t comm[R];
    cudaStream_t stream[R];
    float *x[R], host[N];
    double sum = 0;
    TRY(ncclCommInitAll(comm, R, NULL));
    for (int r = 0; r < R; r++) {
        TRY(cudaSetDevice(r));
        TRY(cudaStreamCreateWithFlags(&stream[r], cudaStreamNonBlocking));
        TRY(cudaMalloc(&x[r], sizeof host));
        TRY(cudaMemset(x[r], 0, sizeof host));
        TRY(cudaDeviceSynchronize());
    }
#ifdef MENDED
    TRY(ncclGroupStart());
#endif
    for (int r = 0; r < R; r++) {
        /* expect: NCCL misuse */
        TRY(ncclAllReduce(x[r], x[r], N, ncclFloat, ncclSum, comm[r], stream[r]));
    }
#ifdef MENDED
    TRY(ncclGroupEnd());
#endif
    for (int r = 0; r < R; r++) {
        TRY(cudaSetDevice(r));
        TRY(cudaMemcpyAsync(host, x[r], sizeof host, cudaMemcpyDeviceToHost, stream[r]));
        TRY(cudaStreamSynchronize(stream[r]));
        sum += checksum(host, N) + 1;
    }
    for (int r = 0; r < R; r++) {
        TRY(ncclCommDestroy(comm[r]));
        TRY(cudaFree(x[r]));
        TRY(cudaStreamDestroy(stream[r]));
    }
    return expect(sum, 2);
}
