/* A kernel in a non-blocking stream counts in a variable of the device, and the host copies that
   without having waited: the copy is in the default stream, which such a stream does not stop. */
#include "try.cuh"

enum { N = 64 };

static __device__ int count;

static __global__ void add(int step) {
    atomicAdd(&count, step); /* expect: stream race */
}

int main() {
    int result = 0;
    cudaStream_t stream;
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaMemcpyToSymbol(count, &result, sizeof count));
    add<<<1, N, 0, stream>>>(3);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
#endif
    TRY(cudaMemcpyFromSymbol(&result, count, sizeof count));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaStreamDestroy(stream));
    return expect(result, 3 * N);
}
