/* The lower half of a warp takes a value from lane 20, which its mask does not name. */
#include "try.cuh"

enum { N = 32 };

static __global__ void take(float *out, const float *x) {
    int i = threadIdx.x;
    float v = x[i];
    if (i < 16) {
#ifdef MENDED
        int from = 4;
#else
        int from = 20;
#endif
        v = __shfl_sync(0x0000ffff, v, from); /* expect: undefined shuffle */
    }
    out[i] = v;
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    take<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 4);
}
