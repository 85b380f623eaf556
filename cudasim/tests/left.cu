// How much a program has made and not given back: streams, events, handles, pinned memory.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cudasim_left.h>
#include <stdio.h>

enum { BYTES = 1000 };

/* Whether as much is there as at the beginning, and this beside it. */
static bool has(CudasimLeft begin, int handles, size_t pinned) {
    CudasimLeft now = cudasim_left();
    return now.handles == begin.handles + handles && now.pinned == begin.pinned + pinned;
}

int main(void) {
    cudaStream_t stream[2];
    cudaEvent_t event;
    cublasHandle_t blas;
    void *pinned;
    CudasimLeft begin = cudasim_left();
    bool good = has(begin, 0, 0);
    cudaStreamCreate(&stream[0]);
    cudaStreamCreateWithFlags(&stream[1], cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cublasCreate(&blas);
    cudaMallocHost(&pinned, BYTES);
    good = good && has(begin, 4, BYTES);
    cudaStreamDestroy(stream[0]);
    cudaEventDestroy(event);
    cublasDestroy(blas);
    good = good && has(begin, 1, BYTES);
    cudaStreamDestroy(stream[1]);
    cudaFreeHost(pinned);
    good = good && has(begin, 0, 0);
    printf("%s\n", good ? "good" : "WRONG");
    return good ? 0 : 1;
}
