/* Each lane gives the address of its own element. All lanes give the same pointer, that of the
   matrix: the lanes share the elements out among themselves. */
#include <cuda_fp16.h>
#include <mma.h>

#include "try.cuh"

using namespace nvcuda;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> FragmentA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> FragmentB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;

enum { N = 16 };

static __global__ void product(float *c, const __half *a, const __half *b) {
    FragmentA x;
    FragmentB y;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
#ifdef MENDED
    int own = 0;
#else
    int own = threadIdx.x * N;
#endif
    wmma::load_matrix_sync(x, a + own, N); /* expect: fragment misuse */
    wmma::load_matrix_sync(y, b, N);
    wmma::mma_sync(sum, x, y, sum);
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
    TRY(cudaMalloc(&a, 4 * N * N * sizeof *a));
    TRY(cudaMalloc(&b, N * N * sizeof *b));
    TRY(cudaMalloc(&c, sizeof host));
    fill<<<1, 64>>>(a, 4 * N * N);
    fill<<<1, 64>>>(b, N * N);
    TRY(cudaGetLastError());
    product<<<1, 32>>>(c, a, b);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(a));
    TRY(cudaFree(b));
    TRY(cudaFree(c));
    return expect(checksum(host, N * N), 1371);
}
