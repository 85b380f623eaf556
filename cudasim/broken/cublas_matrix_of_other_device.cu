/* A matrix of the product is memory of another device, and there is no peer access. */
/* devices: 2 */
#include <cublas_v2.h>

#include "try.cuh"

int main(void) {
    cublasHandle_t handle;
    float one = 1, zero = 0, host = 3, *x, *y;
    TRY(cudaMalloc(&x, sizeof *x));
    TRY(cudaMemcpy(x, &host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaSetDevice(1));
    TRY(cublasCreate(&handle));
    TRY(cudaMalloc(&y, sizeof *y));
#ifdef MENDED
    TRY(cudaDeviceEnablePeerAccess(0, 0));
#endif
    /* expect: memory of another device */
    TRY(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, 1, x, 1, &zero, y, 1));
    TRY(cudaMemcpy(&host, y, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cublasDestroy(handle));
    TRY(cudaFree(x));
    TRY(cudaFree(y));
    return expect(host, 9);
}
