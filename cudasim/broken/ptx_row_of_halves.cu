/* Rows of the tile in shared memory have 20 halves: the padding keeps columns apart, but each
   second row begins 8 bytes after a multiple of 16, where ldmatrix cannot read. */
#include <cuda_fp16.h>

#include <stdint.h>

#include "try.cuh"

#ifdef MENDED
enum { ROW = 24 };
#else
enum { ROW = 20 };
#endif
enum { N = 8 };

static __global__ void transpose(__half *out, const __half *x) {
    __shared__ __align__(16) __half tile[N][ROW];
    int lane = threadIdx.x;
    for (int i = lane; i < N * N; i += 32) {
        tile[i / N][i % N] = x[i];
    }
    __syncwarp();
    unsigned address = (unsigned)__cvta_generic_to_shared(tile[lane % N]);
    uint32_t pair;
    /* expect: misaligned access */
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(pair)
                 : "r"(address));
    ((uint32_t *)out)[lane] = pair;
}

int main(void) {
    __half host[N * N], *x, *out;
    float result[N * N];
    for (int i = 0; i < N * N; i++) {
        host[i] = __float2half((float)i);
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    transpose<<<1, 32>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    for (int i = 0; i < N * N; i++) {
        result[i] = __half2float(host[i]);
    }
    return expect(checksum(result, N * N), 70896);
}
