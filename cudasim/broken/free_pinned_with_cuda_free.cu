/* Pinned memory from cudaMallocHost is given to cudaFree; it wants cudaFreeHost. On a GPU the call
   fails with "invalid argument". */
#include "try.cuh"

int main(void) {
    float *host;
    TRY(cudaMallocHost(&host, 32 * sizeof(float)));
    host[0] = 1;
    float first = host[0];
#ifdef MENDED
    TRY(cudaFreeHost(host));
#else
    TRY(cudaFree(host)); /* expect: invalid free */
#endif
    return expect(first, 1);
}
