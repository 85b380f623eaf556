/* Each dimension is below its limit, but 64 times 32 threads are more than 1024. On a GPU the
   kernel does not run: "invalid configuration argument". */
#include "try.cuh"

static __global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = 1;
    }
}

int main(void) {
    enum { N = 2048 };
    static float host[N];
    float *x;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
#ifdef MENDED
    fill<<<N / 64, 64>>>(x, N);
    TRY(cudaGetLastError());
#else
    fill<<<1, dim3(64, 32)>>>(x, N); /* expect: launch failed */
    TRY(cudaGetLastError());
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2098176);
}
