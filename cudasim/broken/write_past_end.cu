/* The last block is not full, and nothing stops its idle threads from writing behind x. On a GPU
   the bytes behind x often belong to another buffer, which is then silently wrong. */
#include "try.cuh"

static __global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MENDED
    if (i < n) {
        x[i] = 1;
    }
#else
    (void)n;
    x[i] = 1; /* expect: out-of-bounds access */
#endif
}

int main(void) {
    enum { N = 1000 };
    static float host[N];
    float *x;
    TRY(cudaMalloc(&x, N * sizeof(float)));
    fill<<<(N + 255) / 256, 256>>>(x, N);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, N * sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 500500);
}
