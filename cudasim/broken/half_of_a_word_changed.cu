/* Two numbers of 2 bytes lie in one word of 4. Each thread reads its own and changes it where it is
   negative; nobody may look at a neighbour's, which may be changed already. */
#include "try.cuh"

enum { N = 64 };

static __global__ void clip(short *x) {
    int i = threadIdx.x;
#ifdef MENDED
    short mine = x[i];
#else
    short mine = x[i ^ 1];
#endif
    if (mine < 0) {
        x[i] = 0; /* expect: race */
    }
}

int main(void) {
    short host[N], *x;
    int sum = 0;
    for (int i = 0; i < N; i++) {
        host[i] = (short)(i % 4 < 2 ? -i : i);
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    clip<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        sum += host[i];
    }
    return expect(sum, 1040);
}
