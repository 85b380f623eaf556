/* Bytes above 127 are negative as char: as an index they point before the bins. */
#include "try.cuh"

enum { N = 256 };

static __global__ void histogram(int *bin, const char *text) {
#ifdef MENDED
    unsigned char c = (unsigned char)text[threadIdx.x];
#else
    char c = text[threadIdx.x];
#endif
    atomicAdd(&bin[(int)c], 1); /* expect: out-of-bounds access */
}

int main(void) {
    char text[N], *x;
    int host[N], *bin;
    for (int i = 0; i < N; i++) {
        text[i] = (char)i;
    }
    TRY(cudaMalloc(&x, sizeof text));
    TRY(cudaMalloc(&bin, sizeof host));
    TRY(cudaMemcpy(x, text, sizeof text, cudaMemcpyHostToDevice));
    TRY(cudaMemset(bin, 0, sizeof host));
    histogram<<<1, N>>>(bin, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, bin, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(bin));
    TRY(cudaFree(x));
    return expect(host[200], 1);
}
