/* Tensors of floats times a number, on the CPU. The contract is in scale.h. */
#include "kernels/scale.h"

void scale_cpu(TensorList list, float factor) {
#pragma omp parallel for
    for (size_t index = 0; index < list.length; index += TENSOR_BLOCK) {
        TensorPlace at = tensor_find(list, index);
        float *x = tensor_at(list, at);
        size_t n = tensor_run(at);
#pragma omp simd
        for (size_t i = 0; i < n; i++) {
            x[i] *= factor;
        }
    }
}
