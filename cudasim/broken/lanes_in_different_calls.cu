/* Half of the warp calls __any_sync and the other half a shuffle, both for all 32 lanes. On a GPU
   neither is complete: it hangs or gives anything. */
#include "try.cuh"

static __global__ void kernel(int *out) {
    int lane = threadIdx.x;
#ifdef MENDED
    int any = __any_sync(0xffffffff, lane == 3);
    int first = __shfl_sync(0xffffffff, lane + 5, 0);
#else
    int any = 1, first = 5;
    if (lane < 16) {
        any = __any_sync(0xffffffff, lane == 3);
    } else {
        first = __shfl_sync(0xffffffff, lane + 5, 0); /* expect: undefined shuffle */
    }
#endif
    out[lane] = any * first;
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
    return expect(host[0], 5);
}
