/* The pinned buffer has N numbers, and the copy takes one more. On a GPU it often goes unseen: what
   lies behind belongs to the same page. */
#include "try.cuh"

enum { N = 64 };

int main(void) {
    float host[N], *x, *pinned;
#ifdef MENDED
    size_t count = N;
#else
    size_t count = N + 1;
#endif
    TRY(cudaMalloc(&x, (N + 1) * sizeof *x));
    TRY(cudaMallocHost(&pinned, N * sizeof *pinned));
    for (int i = 0; i < N; i++) {
        pinned[i] = i;
    }
    /* expect: out-of-bounds access */
    TRY(cudaMemcpy(x, pinned, count * sizeof *x, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFreeHost(pinned));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 87360);
}
