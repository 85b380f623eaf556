/* Two tables of 40000 bytes in __constant__ memory, which has 65536. nvcc does not compile it. */
#include "try.cuh"

enum { N = 64 };

#ifdef MENDED
#define SPACE __device__
#else
#define SPACE __constant__
#endif

static SPACE float scale[10000];
static SPACE float shift[10000];

static __global__ void apply(float *x) {
    x[threadIdx.x] = scale[threadIdx.x] * 2 + shift[threadIdx.x];
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = 1;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpyToSymbol(scale, host, sizeof host));
    TRY(cudaMemcpyToSymbol(shift, host, sizeof host));
    apply<<<1, N>>>(x); /* expect: launch failed */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 6240);
}
