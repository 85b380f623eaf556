/* The host fills the buffer in a loop, as if it were its own. With a real GPU the program dies with
   a segmentation fault at the first element. */
#include "try.cuh"

int main(void) {
    enum { N = 16 };
    float host[N] = {0}, *x;
    TRY(cudaMalloc(&x, sizeof host));
    for (int i = 0; i < N; i++) {
#ifdef MENDED
        host[i] = i;
#else
        x[i] = i; /* expect: host access to device memory */
#endif
    }
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 1360);
}
