/* Row and column are swapped in the index of a matrix that is not square. On a GPU some elements
   are written behind the matrix and others never. */
#include "try.cuh"

static __global__ void number(float *x, int rows, int cols) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols) {
#ifdef MENDED
        x[row * cols + col] = row * cols + col;
#else
        x[col * cols + row] = row * cols + col; /* expect: out-of-bounds access */
#endif
    }
}

int main(void) {
    enum { ROWS = 3, COLS = 40, N = ROWS * COLS };
    static float host[N];
    float *x;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    number<<<dim3((COLS + 15) / 16, 1), dim3(16, 16)>>>(x, ROWS, COLS);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 575960);
}
