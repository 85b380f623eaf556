/* The loop over devices takes the buffer of the first one each time. A communicator works with
   memory of its own device: on GPUs this is an error, or a fault. */
/* devices: 2 */
/* says: memory of device 0, but the communicator's rank 1 is on device 1 */
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
#ifdef MENDED
        float *buffer = x[r];
#else
        float *buffer = x[0];
#endif
        /* expect: NCCL argument */
        ncclAllReduce(buffer, buffer, N, ncclFloat, ncclSum, comm[r], stream[r]);
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
