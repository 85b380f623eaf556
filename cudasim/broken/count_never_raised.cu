/* The mean of what is positive in each row, but nobody counts: the compiler knows that the
   divisor is always 0. A GPU goes on with some number. */
/* more reports follow */
#include "try.cuh"

enum { N = 64, ROW = 8 };

static __global__ void mean(int *out, const int *x) {
    int sum = 0, count = 0;
    for (int i = 0; i < ROW; i++) {
        int value = x[threadIdx.x * ROW + i];
        if (value > 0) {
            sum += value;
#ifdef MENDED
            count++;
#endif
        }
    }
    out[threadIdx.x] = sum / count; /* expect: undefined behaviour */
}

int main(void) {
    int host[N * ROW], *x, *out;
    for (int i = 0; i < N * ROW; i++) {
        host[i] = i % 2 ? i / ROW + 1 : -1;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, N * sizeof(int)));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    mean<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof(int), cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0] + host[5], 7);
}
