/* cudaMemset is told 8 bytes for each float. On a GPU it clears the buffer behind this one. */
#include "try.cuh"

int main(void) {
    enum { N = 300 };
    static float host[N];
    float *x;
    TRY(cudaMalloc(&x, sizeof host));
#ifdef MENDED
    TRY(cudaMemset(x, 0, N * sizeof(float)));
#else
    TRY(cudaMemset(x, 0, N * sizeof(double))); /* expect: out-of-bounds access */
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 0);
}
