/* A launch in a stream that was declared, and never created. */
/* says: was it ever created? */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = 1;
}

struct Lane {
    cudaStream_t stream;
    char more[64];
};

int main(void) {
    float host[32] = {0}, *x;
    struct Lane *lane = (struct Lane *)malloc(sizeof *lane);
    for (size_t i = 0; i < sizeof *lane; i++) {
        ((char *)lane)[i] = 0x5a;
    }
#ifdef MENDED
    TRY(cudaStreamCreate(&lane->stream));
#endif
    TRY(cudaMalloc(&x, sizeof host));
    fill<<<1, 32, 0, lane->stream>>>(x); /* expect: use after free */
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    TRY(cudaStreamDestroy(lane->stream));
#endif
    free(lane);
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, 32), 528);
}
