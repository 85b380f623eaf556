/* free() takes back memory that is still registered, while a copy from it is on its way. On a GPU
   the pages stay pinned, and the copy may take what the next malloc() puts there. */
#include "try.cuh"

enum { N = 1024 };

int main(void) {
    static float host[N];
    float *x = (float *)malloc(sizeof host), *d;
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&d, sizeof host));
    TRY(cudaHostRegister(x, sizeof host, cudaHostRegisterDefault));
    for (int i = 0; i < N; i++) {
        x[i] = 1;
    }
    TRY(cudaMemcpyAsync(d, x, sizeof host, cudaMemcpyHostToDevice, stream));
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaHostUnregister(x));
#endif
    free(x); /* expect: invalid free */
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(d));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), N * (N + 1) / 2);
}
