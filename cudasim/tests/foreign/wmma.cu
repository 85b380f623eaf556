/* Tensor cores: tiled products of half and bf16 with float sums, half sums, both layouts, the other
   shapes, fragments element by element. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "check.cuh"

using namespace nvcuda;

enum { M = 64, N = 48, K = 32 };

/* Small numbers, whose products and sums are exact in every type that is used here. */
static float number(int i, int j) {
    return (float)((3 * i + 5 * j) % 7 - 3);
}

/* c = 2 a b + c, a warp to each 16 x 16 tile. */
template <class T, class LayoutB>
__global__ void product(float *c, const T *a, const T *b, int m, int n, int k, int ldb) {
    int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
    if (row >= m || column >= n) {
        return;
    }
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, LayoutB> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
    wmma::fill_fragment(sum, 0.0f);
    const bool by_rows = std::is_same<LayoutB, wmma::row_major>::value;
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(x, a + row * k + i, k);
        wmma::load_matrix_sync(y, by_rows ? b + i * ldb + column : b + column * ldb + i, ldb);
        wmma::mma_sync(sum, x, y, sum);
    }
    wmma::load_matrix_sync(old, c + row * n + column, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++) {
        sum.x[i] = 2 * sum.x[i] + old.x[i];
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

/* One tile of another shape, through shared memory; the result lies by columns. */
template <int m, int n, class TC>
__global__ void one_tile(TC *c, const __half *a, const __half *b) {
    __shared__ __half a_tile[m * 16], b_tile[16 * n];
    __shared__ TC c_tile[m * n];
    for (int i = threadIdx.x; i < m * 16; i += 32) {
        a_tile[i] = a[i];
    }
    for (int i = threadIdx.x; i < 16 * n; i += 32) {
        b_tile[i] = b[i];
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, m, n, 16, __half, wmma::col_major> x;
    wmma::fragment<wmma::matrix_b, m, n, 16, __half, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, m, n, 16, TC> sum;
    wmma::fill_fragment(sum, TC(1.0f));
    wmma::load_matrix_sync(x, a_tile, m);
    wmma::load_matrix_sync(y, b_tile, n);
    wmma::mma_sync(sum, x, y, sum);
    wmma::store_matrix_sync(c_tile, sum, m, wmma::mem_col_major);
    __syncwarp();
    for (int i = threadIdx.x; i < m * n; i += 32) {
        c[i] = c_tile[i];
    }
}

template <class T> static T *to_device(const T *host, int n) {
    T *x;
    OK(cudaMalloc(&x, n * sizeof *x));
    OK(cudaMemcpy(x, host, n * sizeof *x, cudaMemcpyHostToDevice));
    return x;
}

template <class T, class LayoutB> static void try_product() {
    static T a[M * K], b[K * N];
    static float c[M * N];
    const bool by_rows = std::is_same<LayoutB, wmma::row_major>::value;
    for (int i = 0; i < M * K; i++) {
        a[i] = T(number(i / K, i % K));
    }
    for (int i = 0; i < K * N; i++) {
        b[i] = T(by_rows ? number(i / N, i % N) : number(i % K, i / K));
    }
    for (int i = 0; i < M * N; i++) {
        c[i] = (float)i;
    }
    T *da = to_device(a, M * K), *db = to_device(b, K * N);
    float *dc = to_device(c, M * N);
    product<T, LayoutB>
        <<<dim3(N / 32 + 1, M / 16), dim3(32, 2)>>>(dc, da, db, M, N, K, by_rows ? N : K);
    OK(cudaGetLastError());
    OK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; i++) {
        float sum = 0;
        for (int l = 0; l < K; l++) {
            sum += number(i / N, l) * number(l, i % N);
        }
        MUST(c[i] == 2 * sum + (float)i);
    }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dc));
}

template <int m, int n, class TC> static void try_tile() {
    __half a[m * 16], b[16 * n];
    TC c[m * n];
    for (int i = 0; i < m * 16; i++) {
        a[i] = __float2half(number(i % m, i / m));
    }
    for (int i = 0; i < 16 * n; i++) {
        b[i] = __float2half(number(i / n, i % n));
    }
    __half *da = to_device(a, m * 16), *db = to_device(b, 16 * n);
    TC *dc;
    OK(cudaMalloc(&dc, sizeof c));
    one_tile<m, n, TC><<<1, 32>>>(dc, da, db);
    OK(cudaGetLastError());
    OK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < m * n; i++) {
        float sum = 1;
        for (int l = 0; l < 16; l++) {
            sum += number(i % m, l) * number(l, i / m);
        }
        MUST((float)c[i] == sum);
    }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dc));
}

/* A GPU rounds sums in an order of its own; the simulator's is that of k, from c on. */
static void try_rounding() {
    static __half a[16 * 16], b[16 * 16];
    static float c[16 * 16];
    for (int i = 0; i < 256; i++) {
        a[i] = __float2half((float)(i * 37 % 101) / 7);
        b[i] = __float2half((float)(i * 53 % 89) / 3);
        c[i] = (float)i / 11;
    }
    __half *da = to_device(a, 256), *db = to_device(b, 256);
    float got[256], *dc = to_device(c, 256);
    product<__half, wmma::row_major><<<1, 32>>>(dc, da, db, 16, 16, 16, 16);
    OK(cudaGetLastError());
    OK(cudaMemcpy(got, dc, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) {
        float sum = 0;
        for (int l = 0; l < 16; l++) {
            sum += __half2float(a[i / 16 * 16 + l]) * __half2float(b[16 * l + i % 16]);
        }
        float difference = got[i] - (2 * sum + c[i]);
#ifdef CUDASIM_MMA_H
        MUST(difference == 0);
#else
        MUST(difference > -0.1f && difference < 0.1f);
#endif
    }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dc));
}

int main() {
    try_rounding();
    try_product<__half, wmma::row_major>();
    try_product<__half, wmma::col_major>();
    try_product<__nv_bfloat16, wmma::row_major>();
    try_product<__nv_bfloat16, wmma::col_major>();
    try_tile<16, 16, float>();
    try_tile<16, 16, __half>();
    try_tile<32, 8, float>();
    try_tile<8, 32, __half>();
    return 0;
}
