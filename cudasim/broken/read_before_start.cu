/* The first thread reads the element before x. On a GPU there is usually readable memory of
   somebody else, so the first difference is a random number. */
#include "try.cuh"

static __global__ void difference(float *out, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
#ifdef MENDED
        out[i] = i > 0 ? x[i] - x[i - 1] : x[i];
#else
        out[i] = x[i] - x[i - 1]; /* expect: out-of-bounds access */
#endif
    }
}

int main(void) {
    enum { N = 256 };
    static float host[N];
    float *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i + 1;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    difference<<<1, N>>>(out, x, N);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 32896);
}
