/* cp.async begins a copy, and a barrier does not wait for it: cp.async.wait_all does. */
#include "try.cuh"

enum { N = 128 };

static __global__ void reverse(float *out, const float *x) {
    __shared__ float row[N];
    int i = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&row[i]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + i));
#ifdef MENDED
    asm volatile("cp.async.wait_all;");
#endif
    __syncthreads();
    out[i] = row[N - 1 - i]; /* expect: pending copy */
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
    reverse<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 349504);
}
