/* Only the first warp fills the shared array, and all of it is read. */
#include "try.cuh"

enum { N = 64 };

static __global__ void reverse(float *out, const float *x) {
    __shared__ float s[N];
    int i = threadIdx.x;
#ifdef MENDED
    int end = N;
#else
    int end = 32;
#endif
    if (i < end) {
        s[i] = x[i];
    }
    __syncthreads();
    out[i] = s[N - 1 - i]; /* expect: uninitialized shared memory */
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    reverse<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 43680);
}
