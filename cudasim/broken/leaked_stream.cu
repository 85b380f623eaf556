/* Every worker of the program has a stream, and one that ends does not destroy it. Here the worker
   is a global object, whose destructor runs after main(). */
#include "try.cuh"
/* says: what it made was never destroyed */

enum { N = 32 };

struct Worker {
    cudaStream_t stream = NULL;
    void begin() {
        TRY(cudaStreamCreate(&stream)); /* expect: leak */
    }
    ~Worker() {
#ifdef MENDED
        TRY(cudaStreamDestroy(stream));
#endif
    }
};

static Worker worker;

static __global__ void fill(int *x) {
    x[threadIdx.x] = (int)threadIdx.x;
}

int main(void) {
    int *x, last;
    worker.begin();
    TRY(cudaMalloc((void **)&x, N * sizeof *x));
    fill<<<1, N, 0, worker.stream>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaStreamSynchronize(worker.stream));
    TRY(cudaMemcpy(&last, x + N - 1, sizeof last, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(last, N - 1);
}
