/* A loop on one thread of the GPU: right numbers, and no kernel. */
/* lab: 02_kernels/sumsq.cu honest: adamw, adamw_clean, adamw_schedules, adamw_traffic,
   crossentropy_forward, crossentropy_large, crossentropy_backward, crossentropy_clean,
   crossentropy_schedules, crossentropy_traffic, layernorm_din, layernorm_partials,
   layernorm_parameters, layernorm_clean, layernorm_schedules, layernorm_traffic, sumsq_gpu,
   adamw_gpu, crossentropy_gpu, layernorm_gpu */
/* state: fail */
#include "kernels/sumsq.h"

#include "common/lab.h"
#include "kernels/real.cuh"

static __global__ void all_alone(float *out, double *partial, TensorList x) {
    double total = 0;
    for (size_t first = 0; first < x.length; first += TENSOR_BLOCK) {
        TensorPlace at = tensor_find(x, first);
        const float *from = tensor_at(x, at);
        double sum = 0;
        for (size_t i = 0; i < TENSOR_BLOCK && i < at.left; i++) {
            sum += (double)from[i] * (double)from[i];
        }
        partial[first / TENSOR_BLOCK] = sum;
        total += sum;
    }
    out[0] += (float)total;
}

extern "C" void sumsq_gpu(float *out, TensorList x, const Workspace *workspace) {
    if (x.length > 0) {
        all_alone<<<1, 1>>>(out, (double *)workspace->data, x);
        LAUNCHED("sumsq");
    }
}
