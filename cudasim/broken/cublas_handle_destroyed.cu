/* A handle is destroyed by a clean-up function and used once more. */
#include "try.cuh"

#include <cublas_v2.h>

int main(void) {
    cublasHandle_t handle;
    TRY(cublasCreate(&handle));
#ifndef MENDED
    TRY(cublasDestroy(handle));
#endif
    cublasStatus_t status = cublasSetStream(handle, 0); /* expect: cuBLAS argument */
#ifdef MENDED
    TRY(cublasDestroy(handle));
#endif
    return expect(status, 0);
}
