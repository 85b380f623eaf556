/* Loops over float4 that end where the memory does: no more is read than the program says. */
#include <cuda_runtime.h>

#include "check.cuh"

enum { ROWS = 8, WIDTH = 64 };

__device__ float4 load(const float *address) {
    return *reinterpret_cast<const float4 *>(address);
}

__global__ void products(float *out, const float *a, const float *b, int stride, int width) {
    float sums[ROWS][ROWS] = {};
    for (int at = 0; at < width; at += 4) {
        float4 right[ROWS];
        for (int j = 0; j < ROWS; j++) {
            right[j] = load(b + j * stride + at);
        }
        for (int i = 0; i < ROWS; i++) {
            float4 left = load(a + i * stride + at);
            for (int j = 0; j < ROWS; j++) {
                sums[i][j] += left.x * right[j].x;
                sums[i][j] += left.y * right[j].y;
                sums[i][j] += left.z * right[j].z;
                sums[i][j] += left.w * right[j].w;
            }
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) {
            out[i * ROWS + j] = sums[i][j];
        }
    }
}

int main() {
    float host[ROWS * WIDTH], *a, *b, *out;
    for (int i = 0; i < ROWS * WIDTH; i++) {
        host[i] = i % 5;
    }
    OK(cudaMalloc(&a, sizeof host));
    OK(cudaMalloc(&b, sizeof host));
    OK(cudaMalloc(&out, ROWS * ROWS * sizeof(float)));
    OK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice));
    products<<<1, 1>>>(out, a, b, WIDTH, WIDTH);
    OK(cudaGetLastError());
    float result, expected = 0;
    OK(cudaMemcpy(&result, out + ROWS * ROWS - 1, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < WIDTH; i++) {
        expected += host[(ROWS - 1) * WIDTH + i] * host[(ROWS - 1) * WIDTH + i];
    }
    MUST(result == expected);
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(out));
}
