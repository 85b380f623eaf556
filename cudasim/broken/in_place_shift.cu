/* Every thread reads its right neighbour and writes its own element, in one buffer. On a GPU the
   neighbour in the next warp may have written already. */
#include "try.cuh"

enum { N = 256 };

static __global__ void shift(float *out, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N - 1) {
        out[i] = x[i + 1]; /* expect: race */
    }
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(out, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    shift<<<2, N / 2>>>(out, x);
#else
    shift<<<2, N / 2>>>(out, out);
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 5624960);
}
