/* The halves of a warp ask for their products in two branches. These are two instructions, and each
   takes a whole warp. */
#include <cuda_fp16.h>

#include <stdint.h>

#include "try.cuh"

enum { M = 16, N = 8, K = 8 };

#define MULTIPLY                                                                                   \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, "   \
                 "{%5}, {%0, %1, %2, %3};"                                                         \
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                          \
                 : "r"(ones), "r"(ones))

/* All of a and b is 1; sums of rows from 8 on begin with 5. */
static __global__ void product(float *out) {
    int lane = threadIdx.x, row = lane / 4, col = lane % 4 * 2;
    float sum[4] = {0, 0, 5, 5};
    uint32_t ones = 0x3c003c00;
#ifdef MENDED
    MULTIPLY;
#else
    if (lane < 16) {
        MULTIPLY;
    } else {
        MULTIPLY; /* expect: undefined shuffle */
    }
#endif
    for (int i = 0; i < 4; i++) {
        out[(row + i / 2 * 8) * N + col + i % 2] = sum[i];
    }
}

int main(void) {
    float host[M * N], *out;
    TRY(cudaMalloc(&out, sizeof host));
    product<<<1, 32>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(checksum(host, M * N), 8 * 2080 + 13 * 6176);
}
