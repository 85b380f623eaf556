/* A mask of all lanes is made by shifting 1 by 32. Shifting by the width of the number is
   undefined: GPUs and CPUs differ. */
#include "try.cuh"

enum { N = 64 };

static __global__ void mask(unsigned *out, unsigned lanes) {
#ifdef MENDED
    out[0] = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
#else
    out[0] = (1u << lanes) - 1; /* expect: undefined behaviour */
#endif
}

int main(void) {
    unsigned host, *out;
    TRY(cudaMalloc(&out, sizeof host));
    mask<<<1, 1>>>(out, 32);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host, 4294967295.0 + 0 * N);
}
