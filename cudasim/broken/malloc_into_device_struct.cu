/* A structure lies in device memory, and cudaMalloc is to store a pointer in it. cudaMalloc stores
   on the host: on a real machine it crashes there. */
/* says: runs on the host */
#include "try.cuh"

struct Vector {
    int n;
    float *x;
};

__global__ void fill(Vector *v) {
    v->x[threadIdx.x] = (float)threadIdx.x;
}

int main() {
    enum { N = 64 };
    Vector host = {N, NULL}, *v;
    float result[N];
    TRY(cudaMalloc(&v, sizeof *v));
#ifdef MENDED
    TRY(cudaMalloc(&host.x, N * sizeof(float)));
#else
    TRY(cudaMalloc(&v->x, N * sizeof(float))); /* expect: host access to device memory */
#endif
    TRY(cudaMemcpy(v, &host, sizeof host, cudaMemcpyHostToDevice));
    fill<<<1, N>>>(v);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, host.x, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(host.x));
    TRY(cudaFree(v));
    return expect(checksum(result, N), 87360);
}
