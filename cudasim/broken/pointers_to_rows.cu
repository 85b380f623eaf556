/* A matrix of the host is an array of pointers to rows, and a copy takes it for the numbers. What
   arrives is pointers, and then whatever lies after them in the host's heap. */
/* says: the source has 128 bytes, and the copy 1024 */
#include "try.cuh"

enum { N = 16 };

__global__ void twice(float *x) {
    x[threadIdx.x] *= 2;
}

static float **make_rows() {
    float **rows = (float **)malloc(N * sizeof *rows);
    for (int i = 0; i < N; i++) {
        rows[i] = (float *)malloc(N * sizeof **rows);
        for (int k = 0; k < N; k++) {
            rows[i][k] = 1;
        }
    }
    return rows;
}

int main() {
    float result[N * N], *x, **rows = make_rows();
    TRY(cudaMalloc(&x, sizeof result));
#ifdef MENDED
    for (int i = 0; i < N; i++) {
        TRY(cudaMemcpy(x + i * N, rows[i], N * sizeof(float), cudaMemcpyHostToDevice));
    }
#else
    /* expect: out-of-bounds access */
    TRY(cudaMemcpy(x, rows, N * N * sizeof(float), cudaMemcpyHostToDevice));
#endif
    twice<<<1, N * N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, x, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    for (int i = 0; i < N; i++) {
        free(rows[i]);
    }
    free(rows);
    return expect(checksum(result, N * N), 65792);
}
