/* A tile of 8 rows and 16 columns is filled with the indices swapped: rows 8 to 15 do not exist. */
#include "try.cuh"

enum { ROWS = 8, COLUMNS = 16, N = ROWS * COLUMNS };

static __global__ void transpose(float *out, const float *x) {
    __shared__ float tile[ROWS][COLUMNS];
    int row = threadIdx.y, column = threadIdx.x;
#ifdef MENDED
    tile[row][column] = x[row * COLUMNS + column];
    __syncthreads();
    out[column * ROWS + row] = tile[row][column];
#else
    tile[column][row] = x[row * COLUMNS + column]; /* expect: out-of-bounds access */
    __syncthreads();
    out[column * ROWS + row] = tile[column][row];
    /* more reports follow */
#endif
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    transpose<<<1, dim3(COLUMNS, ROWS)>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[1], 16);
}
