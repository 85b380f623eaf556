/* Many blocks of one thread each: 31 of the 32 lanes of every warp do not exist. */
/* lab: 02_kernels/sumsq.cu honest: adamw, adamw_clean, adamw_schedules, adamw_traffic,
   crossentropy_forward, crossentropy_large, crossentropy_backward, crossentropy_clean,
   crossentropy_schedules, crossentropy_traffic, layernorm_din, layernorm_partials,
   layernorm_parameters, layernorm_clean, layernorm_schedules, layernorm_traffic, sumsq_gpu,
   adamw_gpu, crossentropy_gpu, layernorm_gpu */
/* state: fail */
#include "kernels/sumsq.h"

#include "common/lab.h"
#include "kernels/real.cuh"

static __global__ void partial_sums(double *partial, TensorList x) {
    TensorPlace at = tensor_find(x, (size_t)blockIdx.x * TENSOR_BLOCK);
    const float *from = tensor_at(x, at);
    double sum = 0;
    for (size_t i = 0; i < TENSOR_BLOCK && i < at.left; i++) {
        sum += (double)from[i] * (double)from[i];
    }
    partial[blockIdx.x] = sum;
}

static __global__ void add_partials(float *out, const double *partial, size_t count) {
    double sum = 0;
    for (size_t i = threadIdx.x; i < count; i += 32) {
        sum += partial[i];
    }
    sum = warp_sum_double(sum);
    if (threadIdx.x == 0) {
        out[0] += (float)sum;
    }
}

extern "C" void sumsq_gpu(float *out, TensorList x, const Workspace *workspace) {
    size_t blocks = x.length / TENSOR_BLOCK;
    double *partial = (double *)workspace->data;
    if (blocks > 0) {
        partial_sums<<<(unsigned)blocks, 1>>>(partial, x);
        LAUNCHED("sumsq, partial sums");
        add_partials<<<1, 32>>>(out, partial, blocks);
        LAUNCHED("sumsq, their sum");
    }
}
