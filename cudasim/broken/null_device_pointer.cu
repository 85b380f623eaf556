/* The output buffer was never allocated. On a GPU the kernel dies with "an illegal memory access",
   which some later call reports. */
#include "try.cuh"

static __global__ void fill(float *out) {
    out[threadIdx.x] = 1; /* expect: null pointer */
}

int main(void) {
    float host[32] = {0};
    float *out = NULL;
#ifdef MENDED
    TRY(cudaMalloc(&out, sizeof host));
#endif
    fill<<<1, 32>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    return expect(checksum(host, 32), 528);
}
