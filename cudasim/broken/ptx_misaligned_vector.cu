/* Two floats are loaded at once, from an address that is not a multiple of 8 bytes. */
#include "try.cuh"

enum { N = 128 };

static __global__ void pair_sums(float *out, const float *x) {
    int i = threadIdx.x;
#ifdef MENDED
    int first = i / 2 * 2;
#else
    int first = i + 1 < N ? i : i - 1;
#endif
    float a, b;
    /* expect: misaligned access */
    asm("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "l"(x + first));
    out[i] = a + b;
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
    pair_sums<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 1397952);
}
