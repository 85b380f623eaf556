/* Source and destination are swapped: as in memcpy, the destination comes first. On a GPU the copy
   fails with "invalid argument". */
#include "try.cuh"

int main(void) {
    float host[32] = {0}, back[32], *x;
    host[3] = 1;
    TRY(cudaMalloc(&x, sizeof host));
#ifdef MENDED
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#else
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyHostToDevice)); /* expect: invalid copy */
#endif
    TRY(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(back, 32), 4);
}
