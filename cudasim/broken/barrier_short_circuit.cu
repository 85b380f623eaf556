/* A barrier that votes stands after &&: threads whose left side is false do not reach it. */
#include "try.cuh"

enum { N = 64 };

static __global__ void any(int *out, const int *x, int n) {
    int i = (int)threadIdx.x;
#ifdef MENDED
    int found = __syncthreads_or(i < n && x[i] == 7);
#else
    int found = i < n && __syncthreads_or(x[i] == 7); /* expect: barrier divergence */
#endif
    if (i == 0) {
        *out = found != 0;
    }
}

int main(void) {
    int host[N] = {0}, result, *x, *out;
    host[5] = 7;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    any<<<1, N>>>(out, x, 50);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(result, 1);
}
