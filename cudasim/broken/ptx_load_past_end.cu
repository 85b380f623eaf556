/* Inline PTX loads through the read-only cache, and the last thread asks it for the element after
   the last. */
#include "try.cuh"

enum { N = 128 };

static __global__ void rotate(float *out, const float *x) {
    int i = threadIdx.x;
#ifdef MENDED
    int next = i + 1 < N ? i + 1 : 0;
#else
    int next = i + 1;
#endif
    float value;
    /* expect: out-of-bounds access */
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(x + next));
    out[i] = value;
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
    rotate<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 690880);
}
