/* A host function is given to another stream than the copy whose result it reads. */
#include "try.cuh"

enum { N = 64 };

static double last;

static void look(void *data) {
    last = ((const float *)data)[N - 1]; /* expect: pending copy */
}

static __global__ void fill(float *x) {
    x[threadIdx.x] = 3;
}

int main(void) {
    float *x, *pinned;
    cudaStream_t copies, calls;
    TRY(cudaStreamCreate(&copies));
    TRY(cudaStreamCreate(&calls));
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMallocHost(&pinned, N * sizeof *x));
    fill<<<1, N, 0, copies>>>(x);
    TRY(cudaMemcpyAsync(pinned, x, N * sizeof *x, cudaMemcpyDeviceToHost, copies));
#ifdef MENDED
    TRY(cudaLaunchHostFunc(copies, look, pinned));
#else
    TRY(cudaLaunchHostFunc(calls, look, pinned));
#endif
    TRY(cudaDeviceSynchronize());
    TRY(cudaFree(x));
    TRY(cudaFreeHost(pinned));
    TRY(cudaStreamDestroy(copies));
    TRY(cudaStreamDestroy(calls));
    return expect(last, 3);
}
