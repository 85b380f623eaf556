/* A struct goes to the kernel by value, and the pointer in it is one of the host. On a GPU the
   kernel dies with "an illegal memory access". */
#include "try.cuh"

typedef struct Tensor {
    float *data;
    int n;
} Tensor;

static __global__ void scale(Tensor x, float by) {
    int i = threadIdx.x;
    if (i < x.n) {
        x.data[i] *= by; /* expect: host memory in a kernel */
    }
}

int main(void) {
    enum { N = 32 };
    float host[N];
    for (int i = 0; i < N; i++) {
        host[i] = 1;
    }
    Tensor x = {host, N};
#ifdef MENDED
    TRY(cudaMalloc(&x.data, sizeof host));
    TRY(cudaMemcpy(x.data, host, sizeof host, cudaMemcpyHostToDevice));
#endif
    scale<<<1, N>>>(x, 2);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    TRY(cudaMemcpy(host, x.data, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x.data));
#endif
    return expect(checksum(host, N), 1056);
}
