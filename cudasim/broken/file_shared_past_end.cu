/* The last thread reads the element after the last of a shared array of the file. */
#include "try.cuh"

enum { N = 128 };

__shared__ float row[N];

static __global__ void shift(float *out, const float *x) {
    int i = threadIdx.x;
    row[i] = x[i];
    __syncthreads();
#ifdef MENDED
    out[i] = i + 1 < N ? row[i + 1] : 0;
#else
    volatile int next = i + 1;
    out[i] = row[next]; /* expect: out-of-bounds access */
#endif
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, N * sizeof *out));
    shift<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 690880);
}
