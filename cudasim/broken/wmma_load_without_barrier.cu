/* Two warps fill a tile for the tensor cores, and each loads all of it without waiting for the
   other. On a GPU the product is now and then that of what lay there before. */
/* says: a __syncthreads() is missing between the two */
/* ordinary build: fragment misuse */
#include <cuda_fp16.h>
#include <mma.h>

#include "try.cuh"

using namespace nvcuda;

enum { N = 16, THREADS = 64 };

static __global__ void square(float *c, const __half *a) {
    __shared__ __align__(32) __half tile[N * N];
    wmma::fragment<wmma::matrix_a, N, N, N, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, N, N, N, __half, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, N, N, N, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = threadIdx.x; i < N * N; i += THREADS) {
        tile[i] = a[i];
    }
#ifdef MENDED
    __syncthreads();
#endif
    /* expect: race */
    wmma::load_matrix_sync(x, tile, N), wmma::load_matrix_sync(y, tile, N);
    wmma::mma_sync(sum, x, y, sum);
    if (threadIdx.x < 32) {
        wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
    }
}

int main(void) {
    __half host[N * N], *a;
    float sums[N * N], *c;
    for (int i = 0; i < N * N; i++) {
        host[i] = __float2half(i % 3 - 1.0f);
    }
    TRY(cudaMalloc(&a, sizeof host));
    TRY(cudaMalloc(&c, sizeof sums));
    TRY(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    square<<<1, THREADS>>>(c, a);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(sums, c, sizeof sums, cudaMemcpyDeviceToHost));
    TRY(cudaFree(a));
    TRY(cudaFree(c));
    return expect(checksum(sums, N * N), 1371);
}
