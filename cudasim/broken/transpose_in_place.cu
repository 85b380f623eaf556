/* Each thread swaps its element with the mirrored one. Both threads of a pair do it, at the same
   time. */
/* says: written by thread */
#include "try.cuh"

enum { SIDE = 16, N = SIDE * SIDE };

static __global__ void transpose(float *x) {
    int row = threadIdx.y, column = threadIdx.x;
#ifdef MENDED
    if (row < column)
#endif
    {
        float mine = x[row * SIDE + column], other = x[column * SIDE + row]; /* expect: race */
        x[row * SIDE + column] = other;
        x[column * SIDE + row] = mine;
    }
    /* more reports follow */
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    transpose<<<1, dim3(SIDE, SIDE)>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[1], SIDE);
}
