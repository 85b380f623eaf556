/* A kernel in one stream reads in mapped memory what a kernel in another stream writes there, and
   nothing orders the two. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = 4;
}

static __global__ void twice(float *out, const float *x) {
    out[threadIdx.x] = 2 * x[threadIdx.x]; /* expect: stream race */
}

int main(void) {
    float *x, *out;
    cudaStream_t first, second;
    cudaEvent_t filled;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
    TRY(cudaEventCreate(&filled));
    TRY(cudaMallocHost(&x, N * sizeof *x));
    TRY(cudaMallocHost(&out, N * sizeof *out));
    for (int i = 0; i < N; i++) {
        x[i] = 0;
    }
    fill<<<1, N, 0, first>>>(x);
    TRY(cudaEventRecord(filled, first));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(second, filled, 0));
#endif
    twice<<<1, N, 0, second>>>(out, x);
    TRY(cudaDeviceSynchronize());
    double sum = checksum(out, N);
    TRY(cudaFreeHost(x));
    TRY(cudaFreeHost(out));
    TRY(cudaEventDestroy(filled));
    TRY(cudaStreamDestroy(first));
    TRY(cudaStreamDestroy(second));
    return expect(sum, 8 * 2080);
}
