/* One thread computes the row's largest value, and the others use it at once. */
#include "try.cuh"

enum { N = 64 };

static __global__ void shift(float *out, const float *x) {
    __shared__ float largest;
    int i = threadIdx.x;
    if (i == N - 1) {
        largest = x[0];
        for (int k = 1; k < N; k++) {
            largest = fmaxf(largest, x[k]);
        }
    }
#ifdef MENDED
    __syncthreads();
#endif
    out[i] = x[i] - largest; /* expect: race */
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    shift<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), -43680);
}
