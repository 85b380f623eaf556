/* A __device__ variable is to hold a pointer. The call gets the pointer in place of its address,
   and so copies what lies there. */
#include "try.cuh"

enum { N = 64 };

static __device__ float *table;

static __global__ void look(float *out) {
    out[threadIdx.x] = table[threadIdx.x];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = 4;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    TRY(cudaMemcpyToSymbol(table, &x, sizeof x));
#else
    TRY(cudaMemcpyToSymbol(table, x, sizeof x)); /* expect: invalid copy */
#endif
    look<<<1, N>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 4 * 2080);
}
