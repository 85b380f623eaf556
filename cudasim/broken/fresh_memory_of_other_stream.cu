/* A kernel in the second stream reads what one in the first computes, and does not wait for it: the
   memory is fresh, so it reads what nobody has written. A memset would only hide that. */
/* says: record an event after the one */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = 4;
}

static __global__ void add(float *sum, const float *x, const float *y) {
    float own = x[threadIdx.x]; /* expect: stream race */
    sum[threadIdx.x] = own + y[threadIdx.x];
}

int main() {
    float host[N], *x, *y, *sum;
    cudaStream_t first, second;
    cudaEvent_t filled;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
    TRY(cudaEventCreate(&filled));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&y, sizeof host));
    TRY(cudaMalloc(&sum, sizeof host));
    fill<<<1, N, 0, second>>>(y);
    fill<<<1, N, 0, first>>>(x);
    TRY(cudaEventRecord(filled, first));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(second, filled, 0));
#endif
    add<<<1, N, 0, second>>>(sum, x, y);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaEventDestroy(filled));
    TRY(cudaStreamDestroy(first));
    TRY(cudaStreamDestroy(second));
    TRY(cudaFree(x));
    TRY(cudaFree(y));
    TRY(cudaFree(sum));
    return expect(checksum(host, N), 8 * 2080);
}
