/* The rows are on the device, but the array of their addresses is on the host. On a GPU the kernel
   dies when it looks up the first row. */
#include "try.cuh"

enum { ROWS = 4, COLS = 32 };

static __global__ void fill(float **row) {
    row[blockIdx.x][threadIdx.x] = blockIdx.x;
}

int main(void) {
    float *row[ROWS], last[COLS];
    for (int r = 0; r < ROWS; r++) {
        TRY(cudaMalloc(&row[r], sizeof last));
    }
#ifdef MENDED
    float **table;
    TRY(cudaMalloc(&table, sizeof row));
    TRY(cudaMemcpy(table, row, sizeof row, cudaMemcpyHostToDevice));
    fill<<<ROWS, COLS>>>(table);
#else
    fill<<<ROWS, COLS>>>(row); /* expect: host pointer passed to a kernel */
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(last, row[ROWS - 1], sizeof last, cudaMemcpyDeviceToHost));
    return expect(checksum(last, COLS), 1584);
}
