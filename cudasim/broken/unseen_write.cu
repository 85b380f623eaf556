/* A builtin of the CPU stores the result. No GPU has it, and no check sees what it writes: bounds,
   races and traffic would all look right. */
#include "try.cuh"

#define N 256

typedef char Bytes __attribute__((vector_size(16)));

static __global__ void scale(float *y, const float *x) {
    int i = threadIdx.x;
    float scaled[4] = {2 * x[i]};
#ifndef MENDED
    Bytes value, mask = {-1, -1, -1, -1};
    memcpy(&value, scaled, sizeof value);
    __builtin_ia32_maskmovdqu(value, mask, (char *)(y + i));
#else
    y[i] = scaled[0];
#endif
}

int main(void) {
    float host[N], *x, *y;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&y, sizeof host + sizeof(Bytes))); /* the builtin looks at 16 bytes */
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemset(y, 0, sizeof host + sizeof(Bytes)));
    scale<<<1, N>>>(y, x); /* expect: unseen write */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(y));
    return expect(host[N - 1], 2 * (N - 1));
}
