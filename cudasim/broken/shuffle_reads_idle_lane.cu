/* The mask is right, but the shuffle reads a lane that is not in it. On a GPU the value is
   undefined. */
#include "try.cuh"

static __global__ void kernel(int *out) {
    int lane = threadIdx.x;
    if (lane < 16) {
#ifdef MENDED
        out[lane] = __shfl_down_sync(0x0000ffff, lane, 8, 16);
#else
        out[lane] = __shfl_down_sync(0x0000ffff, lane, 8); /* expect: undefined shuffle */
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
    return expect(host[0], 8);
}
