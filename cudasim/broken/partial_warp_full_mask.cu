/* The block has 48 threads, so its second warp has only 16 lanes, and the shuffle names 32. On a
   GPU that is undefined; use whole warps. */
#include "try.cuh"

#ifdef MENDED
enum { THREADS = 64 };
#else
enum { THREADS = 48 };
#endif

static __global__ void kernel(int *out) {
    int lane = threadIdx.x;
    int value = lane < 48 ? 1 : 0;
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, step); /* expect: undefined shuffle */
    }
    if (lane % 32 == 0) {
        atomicAdd(&out[0], value);
    }
}

int main(void) {
    int host[64] = {0}, *out;
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemset(out, 0, sizeof host));
    kernel<<<1, THREADS>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host[0], 48);
}
