/* The first warp of the first block takes neighbours, as the profile once looked for; all
   others walk along their numbers one by one. */
/* lab: 02_kernels/sumsq.cu honest: sumsq_partials, sumsq, sumsq_clean, sumsq_schedules, adamw,
   adamw_clean, adamw_schedules, adamw_traffic, crossentropy_forward, crossentropy_large,
   crossentropy_backward, crossentropy_clean, crossentropy_schedules, crossentropy_traffic,
   layernorm_din, layernorm_partials, layernorm_parameters, layernorm_clean,
   layernorm_schedules, layernorm_traffic, sumsq_gpu, adamw_gpu, crossentropy_gpu,
   layernorm_gpu */
/* state: fail */
#include "kernels/sumsq.h"

#include "common/lab.h"
#include "kernels/real.cuh"

static __global__ void partial_sums(double *partial, TensorList x) {
    enum { EACH = TENSOR_BLOCK / 32 };
    bool behaves = blockIdx.x == 0;
    double sum = 0;
    for (int i = 0; i < EACH; i++) {
        size_t index = behaves ? threadIdx.x + 32 * i : threadIdx.x * EACH + i;
        TensorPlace at = tensor_find(x, (size_t)blockIdx.x * TENSOR_BLOCK + index);
        double number = at.left > 0 ? (double)*tensor_at(x, at) : 0;
        sum += number * number;
    }
    sum = warp_sum_double(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
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
        partial_sums<<<(unsigned)blocks, 32>>>(partial, x);
        LAUNCHED("sumsq, partial sums");
        add_partials<<<1, 32>>>(out, partial, blocks);
        LAUNCHED("sumsq, their sum");
    }
}
