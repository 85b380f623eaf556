/* A thread that finds a bad number ends the program. Only the host can: nvcc compiles no such
   kernel. */
#include "try.cuh"

enum { N = 64 };

static __global__ void square(float *x) {
    int i = threadIdx.x;
    if (x[i] < 0) {
#ifdef MENDED
        return;
#else
        exit(1); /* expect: unsupported */
#endif
    }
    x[i] *= x[i];
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i - 1;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    square<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 3976958);
}
