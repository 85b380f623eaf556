/* A stream's callback frees the buffer that the stream has finished with. CUDA allows none of its
   calls there: on a GPU this one may wait for the stream, which waits for the callback. */
#include "try.cuh"

static int *done;

static void give_back(cudaStream_t stream, cudaError_t status, void *data) {
    (void)stream, (void)status;
#ifdef MENDED
    done = (int *)data;
#else
    cudaFree(data); /* expect: unsupported */
    done = NULL;
#endif
}

static __global__ void fill(int *x) {
    x[threadIdx.x] = 3;
}

int main(void) {
    int *x;
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, 64 * sizeof *x));
    fill<<<1, 64, 0, stream>>>(x);
    TRY(cudaStreamAddCallback(stream, give_back, x, 0));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaFree(done));
    TRY(cudaStreamDestroy(stream));
    return expect(done == x, 1);
}
