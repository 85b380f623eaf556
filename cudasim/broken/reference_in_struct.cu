/* A structure goes to a kernel by value, and holds a reference: an address on the stack of the
   host. A GPU stops the kernel with an illegal address. */
/* says: copy the data there first */
#include "try.cuh"

struct Scale {
#ifdef MENDED
    const float factor;
#else
    const float &factor;
#endif
    __host__ __device__ float of(float x) const {
        return factor * x; /* expect: host memory in a kernel */
    }
};

__global__ void fill(float *x, Scale scale) {
    x[threadIdx.x] = scale.of((float)threadIdx.x);
}

int main() {
    enum { N = 64 };
    float result[N], *x, factor = 2;
    TRY(cudaMalloc(&x, sizeof result));
    fill<<<1, N>>>(x, Scale{factor});
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, x, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(result, N), 174720);
}
