/* More bytes are copied to a __constant__ array than it has. On a GPU the copy fails with "invalid
   argument", and the kernel uses zeros. */
#include "try.cuh"

static __constant__ float weight[8];

static __global__ void copy(float *out) {
    out[threadIdx.x] = weight[threadIdx.x];
}

int main(void) {
    float host[16], *out;
    for (int i = 0; i < 16; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&out, 8 * sizeof(float)));
#ifdef MENDED
    TRY(cudaMemcpyToSymbol(weight, host, sizeof weight));
#else
    TRY(cudaMemcpyToSymbol(weight, host, sizeof host)); /* expect: out-of-bounds access */
#endif
    copy<<<1, 8>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 8 * sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(checksum(host, 8), 168);
}
