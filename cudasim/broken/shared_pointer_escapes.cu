/* A block stores the address of its shared memory, and the next kernel follows it: that memory
   ended with the block. */
#include "try.cuh"

enum { N = 64 };

static __device__ float *left_behind;

static __global__ void fill(float *kept) {
    __shared__ float x[N];
    x[threadIdx.x] = 3;
    kept[threadIdx.x] = 3;
    __syncthreads();
    if (threadIdx.x == 0) {
#ifdef MENDED
        left_behind = kept;
#else
        left_behind = x;
#endif
    }
}

static __global__ void twice(float *out) {
    out[threadIdx.x] = 2 * left_behind[threadIdx.x]; /* expect: out-of-bounds access */
}

int main(void) {
    float host[N], *kept, *out;
    TRY(cudaMalloc(&kept, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    fill<<<1, N>>>(kept);
    twice<<<1, N>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(kept));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 6 * 2080);
}
