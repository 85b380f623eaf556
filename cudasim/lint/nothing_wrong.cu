/* Things that both sides may use, and things that belong to one. */
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

static __host__ __device__ float twice(float x) {
    return 2 * x;
}

static __device__ __half2 sum(__half2 a, __half2 b) {
    return __hadd2(a, b) + a * b;
}

__global__ void k(float *a, __half2 *h, int n) {
    __shared__ float tile[32][33];
    extern __shared__ float row[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = row[threadIdx.x] = twice(a[i]);
    __syncthreads();
    float x = tile[threadIdx.x][threadIdx.y] + expf(rsqrtf(a[i])) + fmaxf(a[i], 0);
    x += __shfl_xor_sync(0xffffffffu, x, 16) + abs(i - n) + min(i, n) + isnan(x);
    h[i] = sum(h[i], __float22half2_rn(make_float2(x, __bfloat162float(__float2bfloat16(x)))));
    atomicAdd(&h[i], h[0]);
    atomicAdd(a, x);
    assert(x >= 0);
    printf("%f\n", (double)x);
}

int main(void) {
    float *a;
    __half2 *h;
    cublasHandle_t handle;
    cublasCreate(&handle);
    cudaMalloc(&a, 1024 * sizeof *a);
    cudaMalloc(&h, 1024 * sizeof *h);
    k<<<dim3(1), dim3(32, 32), 32 * sizeof(float)>>>(a, h, 3);
    cudaFree(h);
    cudaFree(a);
    cublasDestroy(handle);
    return twice(2) == 4 && cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
