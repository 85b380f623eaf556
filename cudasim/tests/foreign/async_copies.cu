/* Asynchronous copies to shared memory: two buffers in turn, zeros past the end, a group. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include "check.cuh"

namespace cg = cooperative_groups;

enum { TILE = 256, TILES = 7, N = TILE * TILES, ODD = 77 };

/* A block adds up its tiles; the next tile is on its way while one is added. */
__global__ void two_buffers(float *out, const float *x) {
    __shared__ __align__(16) float buffer[2][TILE];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&buffer[0][4 * t], &x[4 * t], sizeof(float4));
    __pipeline_commit();
    for (int i = 0; i < TILES; i++) {
        if (i + 1 < TILES) {
            __pipeline_memcpy_async(&buffer[(i + 1) % 2][4 * t], &x[(i + 1) * TILE + 4 * t],
                                    sizeof(float4));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < 4; k++) {
            sum += buffer[i % 2][(t + k * blockDim.x + 1) % TILE];
        }
        __syncthreads();
    }
    out[t] = sum;
}

/* The row is shorter than a multiple of 4: the last copy reads fewer bytes. */
__global__ void padded(float *out, const float *x, int n) {
    __shared__ __align__(16) float row[4 * 32];
    int i = 4 * threadIdx.x, rest = n - i;
    int bytes = rest >= 4 ? 16 : rest > 0 ? rest * (int)sizeof(float) : 0;
    __pipeline_memcpy_async(row + i, x + (bytes > 0 ? i : 0), 16, 16 - bytes);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    float sum = row[i] + row[i + 1] + row[i + 2] + row[i + 3];
    out[threadIdx.x] = sum;
}

__global__ void by_group(int *out, const int *x) {
    __shared__ int odd[ODD], first[32], second[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::memcpy_async(block, odd, x, sizeof odd);
    cg::wait(block);
    for (int i = block.thread_rank(); i < ODD; i += block.size()) {
        out[i] = odd[ODD - 1 - i];
    }
    if (warp.meta_group_rank() == 0) {
        cg::memcpy_async(warp, first, x + 1, 32 * sizeof(int));
        cg::memcpy_async(warp, second, (size_t)32, x + 2, (size_t)32);
        cg::wait_prior<1>(warp);
        int value = first[31 - warp.thread_rank()];
        cg::wait(warp);
        out[ODD + warp.thread_rank()] = value + second[31 - warp.thread_rank()];
    }
}

int main() {
    float x[N], sums[64], *dx, *dsums;
    int numbers[N], out[ODD + 32], *dnumbers, *dout;
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 13);
        numbers[i] = i * i;
    }
    OK(cudaMalloc(&dx, sizeof x));
    OK(cudaMalloc(&dsums, sizeof sums));
    OK(cudaMalloc(&dnumbers, sizeof numbers));
    OK(cudaMalloc(&dout, sizeof out));
    OK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dnumbers, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    two_buffers<<<1, TILE / 4>>>(dsums, dx);
    OK(cudaGetLastError());
    OK(cudaMemcpy(sums, dsums, sizeof sums, cudaMemcpyDeviceToHost));
    for (int t = 0; t < TILE / 4; t++) {
        float sum = 0;
        for (int i = 0; i < TILES; i++) {
            for (int k = 0; k < 4; k++) {
                sum += x[i * TILE + (t + k * TILE / 4 + 1) % TILE];
            }
        }
        MUST(sums[t] == sum);
    }
    padded<<<1, 32>>>(dsums, dx, 10);
    OK(cudaGetLastError());
    OK(cudaMemcpy(sums, dsums, 32 * sizeof(float), cudaMemcpyDeviceToHost));
    MUST(sums[0] == 6 && sums[1] == 22 && sums[2] == 17 && sums[3] == 0 && sums[31] == 0);
    by_group<<<1, 64>>>(dout, dnumbers);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ODD; i++) {
        MUST(out[i] == numbers[ODD - 1 - i]);
    }
    for (int i = 0; i < 32; i++) {
        MUST(out[ODD + i] == numbers[32 - i] + numbers[33 - i]);
    }
    OK(cudaFree(dx));
    OK(cudaFree(dsums));
    OK(cudaFree(dnumbers));
    OK(cudaFree(dout));
    return 0;
}
