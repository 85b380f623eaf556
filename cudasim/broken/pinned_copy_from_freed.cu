/* The pinned buffer is freed, and copied from after that. */
#include "try.cuh"

enum { N = 64 };

int main(void) {
    float host[N], *x, *pinned;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMallocHost(&pinned, sizeof host));
    for (int i = 0; i < N; i++) {
        pinned[i] = i;
    }
#ifndef MENDED
    TRY(cudaFreeHost(pinned));
#endif
    TRY(cudaMemcpy(x, pinned, sizeof host, cudaMemcpyHostToDevice)); /* expect: use after free */
#ifdef MENDED
    TRY(cudaFreeHost(pinned));
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 87360);
}
