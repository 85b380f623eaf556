/* The launch fails, since the block is too large, and nobody asks. On a GPU the program goes on
   with what was in the buffer before. */
#include "try.cuh"

static __global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = 1;
    }
}

/* two reports: of the launch, and of the missing check */
int main(void) {
    enum { N = 2048 };
    static float host[N];
    float *x;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
#ifdef MENDED
    fill<<<2, N / 2>>>(x, N);
    TRY(cudaGetLastError());
#else
    fill<<<1, N>>>(x, N); /* expect: unchecked error */
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2098176);
}
