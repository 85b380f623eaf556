/* Only lanes with a row inside of the matrix ask for the product. It takes a whole warp: who has no
   row brings zeros. */
#include <cuda_fp16.h>

#include <stdint.h>

#include "try.cuh"

enum { M = 16, N = 8, K = 8, ROWS = 7 };

static __device__ uint32_t pair_at(const __half *p, bool inside) {
    return inside ? *(const uint32_t *)p : 0;
}

/* b is given by columns. */
static __global__ void product(float *out, const __half *a, const __half *b) {
    int lane = threadIdx.x, row = lane / 4, col = lane % 4 * 2;
    bool inside = row < ROWS;
    float sum[4] = {0, 0, 0, 0};
    uint32_t first = pair_at(a + row * K + col, inside), zero = 0;
    uint32_t second = pair_at(b + row * K + col, true);
#ifdef MENDED
    if (lane < 32) {
#else
    if (inside) {
#endif
        /* expect: undefined shuffle */
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                     "{%6}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(first), "r"(zero), "r"(second));
    }
    if (inside) {
        out[row * N + col] = sum[0];
        out[row * N + col + 1] = sum[1];
    }
}

int main(void) {
    __half ha[ROWS * K], hb[N * K], *a, *b;
    float result[ROWS * N], *out;
    for (int i = 0; i < ROWS * K; i++) {
        ha[i] = __float2half((float)(i % 3));
    }
    for (int i = 0; i < N * K; i++) {
        hb[i] = __float2half((float)(i % 5));
    }
    TRY(cudaMalloc(&a, sizeof ha));
    TRY(cudaMalloc(&b, sizeof hb));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(a, ha, sizeof ha, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(b, hb, sizeof hb, cudaMemcpyHostToDevice));
    product<<<1, 32>>>(out, a, b);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(a));
    TRY(cudaFree(b));
    TRY(cudaFree(out));
    return expect(checksum(result, ROWS * N), 24766);
}
