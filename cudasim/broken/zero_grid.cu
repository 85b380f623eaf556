/* N / 4096 rounds down to a grid without a block. On a GPU the kernel does not run: "invalid
   configuration argument". */
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
    fill<<<(N + 255) / 256, 256>>>(x, N);
    TRY(cudaGetLastError());
#else
    fill<<<N / 4096, 256>>>(x, N); /* expect: launch failed */
    TRY(cudaGetLastError());
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2098176);
}
