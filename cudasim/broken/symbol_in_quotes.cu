/* The name of a variable as a text, as pages from before CUDA 5 have it. The copy fails. */
/* says: without quotation marks */
#include "try.cuh"

__constant__ int seen[2];

int main(void) {
    int host[2] = {3, 4}, back[2] = {0, 0};
#ifdef MENDED
    TRY(cudaMemcpyToSymbol(seen, host, sizeof host));
#else
    cudaMemcpyToSymbol("seen", host, sizeof host); /* expect: invalid symbol */
#endif
    TRY(cudaMemcpyFromSymbol(back, seen, sizeof back));
    return expect(10 * back[0] + back[1], 34);
}
