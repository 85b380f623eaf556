/* The length of a vector shall stay on the device, but the handle is in host mode, in which
   cuBLAS writes the result on the host. On a real GPU the call
   fails, or the program dies. */
/* says: cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) */
#include <cublas_v2.h>

#include "try.cuh"

enum { N = 4 };

int main(void) {
    float host[N] = {1, 1, 1, 1}, *x, *length;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&length, sizeof *length));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    cublasHandle_t blas;
    TRY(cublasCreate(&blas));
#ifdef MENDED
    TRY(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
#endif
    TRY(cublasSnrm2(blas, N, x, 1, length)); /* expect: cuBLAS argument */
    TRY(cudaMemcpy(host, length, sizeof *length, cudaMemcpyDeviceToHost));
    TRY(cublasDestroy(blas));
    TRY(cudaFree(length));
    TRY(cudaFree(x));
    return expect(host[0], 2);
}
