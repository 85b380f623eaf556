/* The vector has room for half of the elements that are copied into it: resize() was given the
   number of pairs. On a GPU the copy goes on into the host's heap, and the program may crash long
   after that. */
#include <vector>

#include "try.cuh"

__global__ void count(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = (float)i;
    }
}

int main() {
    enum { N = 1000 };
    float *x;
    std::vector<float> result;
#ifdef MENDED
    result.resize(N);
#else
    result.resize(N / 2);
#endif
    TRY(cudaMalloc(&x, N * sizeof(float)));
    count<<<4, 256>>>(x, N);
    TRY(cudaGetLastError());
    /* expect: out-of-bounds access */
    TRY(cudaMemcpy(result.data(), x, N * sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(result.data(), N), 333333000);
}
