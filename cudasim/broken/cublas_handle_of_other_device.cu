/* One handle serves two devices. A handle belongs to the device that was current when it was
   created. */
/* devices: 2 */
#include <cublas_v2.h>

#include "try.cuh"

int main(void) {
    cublasHandle_t handle[2];
    float one = 1, zero = 0, host = 3, sum = 0;
    for (int device = 0; device < 2; device++) {
        float *x;
        TRY(cudaSetDevice(device));
        TRY(cublasCreate(&handle[device]));
        TRY(cudaMalloc(&x, 2 * sizeof *x));
        TRY(cudaMemcpy(x, &host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
        cublasHandle_t own = handle[device];
#else
        cublasHandle_t own = handle[0];
#endif
        TRY(cublasSgemm(own, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, 1, x, 1, &zero, x + 1,
                        1)); /* expect: cuBLAS argument */
        TRY(cudaMemcpy(&host, x + 1, sizeof host, cudaMemcpyDeviceToHost));
        TRY(cudaFree(x));
        sum += host;
    }
    TRY(cublasDestroy(handle[0]));
    TRY(cublasDestroy(handle[1]));
    return expect(sum, 9 + 81);
}
