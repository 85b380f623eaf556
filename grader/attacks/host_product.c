/* Lets the library of matrix products do the sum. */
/* lab: 02_kernels/sumsq.cu  honest: none */
/* state: build error */
#include "kernels/sumsq.h"

#include <cublas_v2.h>

extern "C" void sumsq_gpu(float *out, TensorList x, const Workspace *workspace) {
    const float one = 1, zero = 0;
    const float *data = (const float *)workspace->data;
    cublasSgemm((cublasHandle_t)workspace->blas, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, (int)x.n, &one,
                data, 1, data, 1, &zero, out, 1);
}
