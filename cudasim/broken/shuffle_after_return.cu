/* Lanes without work have returned, and the shuffle still names them. A GPU gives an undefined
   value for what these lanes would bring. */
#include "try.cuh"

static __global__ void kernel(int *out) {
    int lane = threadIdx.x;
#ifdef MENDED
    int value = lane < 20 ? lane : 0;
#else
    if (lane >= 20) {
        return;
    }
    int value = lane;
#endif
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_down_sync(0xffffffff, value, step); /* expect: undefined shuffle */
    }
    out[lane] = value;
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
    return expect(host[0], 190);
}
