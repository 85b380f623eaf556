/* A group of ranks for each sum. NCCL's communicators hold buffers on each device until they are
   destroyed. */
/* devices: 2 */
#include <nccl.h>

#include "try.cuh"
/* says: what it made was never destroyed */

enum { R = 2, N = 8, SUMS = 2 };

static void sum_up(float *x[R], cudaStream_t stream[R]) {
    ncclComm_t comm[R];
    TRY(ncclCommInitAll(comm, R, NULL)); /* expect: leak */
    TRY(ncclGroupStart());
    for (int r = 0; r < R; r++) {
        TRY(ncclAllReduce(x[r], x[r], N, ncclFloat, ncclSum, comm[r], stream[r]));
    }
    TRY(ncclGroupEnd());
    for (int r = 0; r < R; r++) {
        TRY(cudaStreamSynchronize(stream[r]));
#ifdef MENDED
        TRY(ncclCommDestroy(comm[r]));
#endif
    }
}

int main(void) {
    cudaStream_t stream[R];
    float *x[R], host[N];
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    for (int r = 0; r < R; r++) {
        TRY(cudaSetDevice(r));
        TRY(cudaStreamCreateWithFlags(&stream[r], cudaStreamNonBlocking));
        TRY(cudaMalloc(&x[r], sizeof host));
        TRY(cudaMemcpyAsync(x[r], host, sizeof host, cudaMemcpyHostToDevice, stream[r]));
        TRY(cudaStreamSynchronize(stream[r]));
    }
    for (int k = 0; k < SUMS; k++) {
        sum_up(x, stream);
    }
    TRY(cudaMemcpy(host, x[1], sizeof host, cudaMemcpyDeviceToHost));
    for (int r = 0; r < R; r++) {
        TRY(cudaSetDevice(r));
        TRY(cudaFree(x[r]));
        TRY(cudaStreamDestroy(stream[r]));
    }
    return expect(checksum(host, N), 4 * 168);
}
