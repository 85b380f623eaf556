/* Device memory is given to free(). On a GPU system the C library stops the program, or takes the
   address into its lists and fails later. */
#include "try.cuh"

int main(void) {
    float host[8] = {0}, *x;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    TRY(cudaFree(x));
#else
    free(x); /* expect: invalid free */
#endif
    return expect(host[0], 0);
}
