/* A matrix is a vector of rows, each a vector, and one copy is to take all: the rows do not lie
   side by side. On a real machine the copy reads what happens to lie after the first row. */
/* says: the source has 32 bytes, and the copy 256 */
#include <vector>

#include "try.cuh"

enum { N = 8 };

__global__ void twice(float *x) {
    x[threadIdx.x] *= 2;
}

int main() {
    std::vector<std::vector<float>> rows(N, std::vector<float>(N, 1));
    float result[N * N], *x;
    TRY(cudaMalloc(&x, sizeof result));
#ifdef MENDED
    for (int i = 0; i < N; i++) {
        TRY(cudaMemcpy(x + i * N, rows[i].data(), N * sizeof(float), cudaMemcpyHostToDevice));
    }
#else
    /* expect: out-of-bounds access */
    TRY(cudaMemcpy(x, rows[0].data(), N * N * sizeof(float), cudaMemcpyHostToDevice));
#endif
    twice<<<1, N * N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, x, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(result, N * N), 4160);
}
