/* The mean of each row, also of rows without elements. A GPU goes on with some number. */
#include "try.cuh"

enum { N = 64 };

static __global__ void mean(float *x, const int *sum, const int *count) {
    int i = threadIdx.x;
#ifdef MENDED
    x[i] = count[i] > 0 ? sum[i] / count[i] : 0;
#else
    x[i] = sum[i] / count[i]; /* expect: undefined behaviour */
#endif
}

int main(void) {
    float host[N], *x;
    int sums[N], counts[N], *sum, *count;
    for (int i = 0; i < N; i++) {
        counts[i] = i % 5;
        sums[i] = 3 * counts[i];
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&sum, sizeof sums));
    TRY(cudaMalloc(&count, sizeof counts));
    TRY(cudaMemcpy(sum, sums, sizeof sums, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(count, counts, sizeof counts, cudaMemcpyHostToDevice));
    mean<<<1, N>>>(x, sum, count);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(count));
    TRY(cudaFree(sum));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 5031);
}
