/* n / 256 blocks leave the last n % 256 elements alone. On a GPU they keep whatever was in that
   memory before. */
#include "try.cuh"

static __global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = 1;
    }
}

int main(void) {
    enum { N = 1000 };
    static float host[N];
    float *x;
    TRY(cudaMalloc(&x, sizeof host));
#ifdef MENDED
    fill<<<(N + 255) / 256, 256>>>(x, N);
#else
    fill<<<N / 256, 256>>>(x, N);
#endif
    TRY(cudaGetLastError());
    /* expect: uninitialized device memory */
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 500500);
}
