/* The array of row addresses is on the device, and the host writes into it as if it were its own.
   With a real GPU the program dies with a segmentation fault. */
#include "try.cuh"

enum { ROWS = 4, COLS = 32 };

static __global__ void fill(float **row) {
    row[blockIdx.x][threadIdx.x] = blockIdx.x;
}

int main(void) {
    float **table, last[COLS];
    float *row[ROWS];
    TRY(cudaMalloc(&table, sizeof row));
    for (int r = 0; r < ROWS; r++) {
        TRY(cudaMalloc(&row[r], sizeof last));
#ifndef MENDED
        table[r] = row[r]; /* expect: host access to device memory */
#endif
    }
#ifdef MENDED
    TRY(cudaMemcpy(table, row, sizeof row, cudaMemcpyHostToDevice));
#endif
    fill<<<ROWS, COLS>>>(table);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(last, row[ROWS - 1], sizeof last, cudaMemcpyDeviceToHost));
    return expect(checksum(last, COLS), 1584);
}
