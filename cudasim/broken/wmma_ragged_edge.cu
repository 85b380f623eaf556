/* A matrix of 40 columns is cut into tiles of 16: the last tile of the last row reads past the
   end. The matrix must be padded to whole tiles, or the edge done by hand. */
#include <cuda_fp16.h>
#include <mma.h>

#include "try.cuh"

using namespace nvcuda;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> FragmentA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> FragmentB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;

enum { N = 16, K = 48, COLUMNS = 40 };

static __global__ void product(float *c, const __half *a, const __half *b) {
#ifdef MENDED
    const int end = COLUMNS / N * N;
#else
    const int end = COLUMNS;
#endif
    FragmentA x;
    FragmentB y;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < end; k += N) {
        wmma::load_matrix_sync(x, a + k, COLUMNS); /* expect: out-of-bounds access */
        wmma::load_matrix_sync(y, b + k * N, N);
        wmma::mma_sync(sum, x, y, sum);
    }
    wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
}

static __global__ void fill(__half *x, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        x[i] = __float2half(i % 3 - 1.0f);
    }
}

int main(void) {
    __half *a, *b;
    float *c, host[N * N];
    TRY(cudaMalloc(&a, N * COLUMNS * sizeof *a));
    TRY(cudaMalloc(&b, K * N * sizeof *b));
    TRY(cudaMalloc(&c, sizeof host));
    fill<<<1, 64>>>(a, N * COLUMNS);
    fill<<<1, 64>>>(b, K * N);
    TRY(cudaGetLastError());
    product<<<1, 32>>>(c, a, b);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(a));
    TRY(cudaFree(b));
    TRY(cudaFree(c));
    return expect(checksum(host, N * N), 2656);
}
