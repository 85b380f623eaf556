/* The second launch shall have a new factor. The copy to the constant is in the default stream, and
   the first launch, in a non-blocking one, has perhaps not begun: then it has the new one, too. */
/* says: __constant__ factor */
#include "try.cuh"

enum { N = 64 };

static __constant__ float factor;

static __global__ void multiply(float *x) {
    x[threadIdx.x] *= factor; /* expect: stream race */
}

int main() {
    float host[N], *x, value = 2;
    cudaStream_t stream;
    for (int i = 0; i < N; i++) {
        host[i] = 1;
    }
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemcpyToSymbol(factor, &value, sizeof factor));
    multiply<<<1, N, 0, stream>>>(x);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
#endif
    value = 5;
    TRY(cudaMemcpyToSymbol(factor, &value, sizeof factor));
    multiply<<<1, N, 0, stream>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 10 * 2080);
}
