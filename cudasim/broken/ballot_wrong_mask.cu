/* The odd lanes vote with the mask of the even ones. Every caller must be named in its own mask: on
   a GPU the result is undefined. */
#include "try.cuh"

static __global__ void kernel(int *out) {
    int lane = threadIdx.x;
    int odd = lane % 2;
    if (odd) {
#ifdef MENDED
        out[lane] = __popc(__ballot_sync(0xaaaaaaaa, lane > 7));
#else
        out[lane] = __popc(__ballot_sync(0x55555555, lane > 7)); /* expect: undefined shuffle */
#endif
    }
}

int main(void) {
    int host[64] = {0}, *out;
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemset(out, 0, sizeof host));
    kernel<<<1, 32>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host[1], 12);
}
