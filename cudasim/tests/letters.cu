/* Each header after macros of one letter, and others that programs have: flags_test.sh gives all
   their names the value 64. NVIDIA's headers need not bear that. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <library_types.h>
#include <math_constants.h>
#include <mma.h>
#include <nccl.h>
#include <nvtx3/nvToolsExt.h>

#ifndef N
#define N 64
#define K 64
#endif

namespace cg = cooperative_groups;

template <unsigned Size> __global__ void used(float *x, __half *h) {
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    float sum = cg::reduce(tile, x[threadIdx.x], cg::plus<float>());
    float before = cg::exclusive_scan(tile, sum);
    x[threadIdx.x] = __shfl_sync(0xffffffffu, before, 1) + norm3df(3, 4, 0) + min(1, 2);
    h[threadIdx.x] = __int2half_rz((int)__vaddss2(1, 2)) + __float2half(1);
    atomicAdd(x + N, 1.0f);
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> part;
    nvcuda::wmma::fill_fragment(part, __fadd_rn(1, 2));
    nvcuda::wmma::store_matrix_sync(x + N + 8, part, 16, nvcuda::wmma::mem_row_major);
}

int main() {
    float *x, *y, sum = 0;
    __half *h;
    cublasHandle_t handle;
    if (cudaMalloc(&x, (N + 8 + 256) * sizeof *x) != cudaSuccess ||
        cudaMemset(x, 0, (N + 8 + 256) * sizeof *x) != cudaSuccess ||
        cudaMalloc(&y, N * sizeof *y) != cudaSuccess ||
        cudaMalloc(&h, N * sizeof *h) != cudaSuccess ||
        cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
        return 1;
    }
    used<32><<<1, 32>>>(x, h);
    if (cublasScopy(handle, K, x, 1, y, 1) != CUBLAS_STATUS_SUCCESS ||
        cublasSasum(handle, K, y, 1, &sum) != CUBLAS_STATUS_SUCCESS ||
        cublasDestroy(handle) != CUBLAS_STATUS_SUCCESS) {
        return 1;
    }
    cudaFree(x);
    cudaFree(y);
    cudaFree(h);
    return sum == 32 * 6 ? 0 : 2;
}
