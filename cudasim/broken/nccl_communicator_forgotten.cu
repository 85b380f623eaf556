/* The loop over devices takes the communicator of the first one each time: rank 0 is called for
   twice, and rank 1 never. On GPUs this is an error, or a hang. */
/* devices: 2 */
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
    TRY(ncclGroupStart());
    for (int r = 0; r < R; r++) {
        TRY(cudaSetDevice(r));
#ifdef MENDED
        ncclComm_t mine = comm[r];
#else
        ncclComm_t mine = comm[0];
#endif
        /* expect: NCCL argument */
        ncclAllReduce(x[r], x[r], N, ncclFloat, ncclSum, mine, stream[r]);
    }
    ncclGroupEnd();
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
