/* A shuffle inside an if names all 32 lanes, and only 16 of them come. On a GPU it hangs or gives
   anything, depending on what the compiler did. */
#include "try.cuh"

static __global__ void kernel(int *out) {
    int lane = threadIdx.x;
    int value = 0;
    if (lane < 16) {
#ifdef MENDED
        value = __shfl_sync(0x0000ffff, lane + 1, 15);
#else
        value = __shfl_sync(0xffffffff, lane + 1, 15); /* expect: undefined shuffle */
#endif
    }
    __syncthreads();
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
    return expect(host[0], 16);
}
