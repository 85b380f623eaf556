/* A single block does it all: its lanes take neighbours, and the rest of the GPU waits. */
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
    __shared__ double of_warp[32];
    for (size_t first = 0; first < x.length; first += TENSOR_BLOCK) {
        TensorPlace at = tensor_find(x, first + threadIdx.x);
        double number = at.left > 0 ? (double)*tensor_at(x, at) : 0;
        double sum = warp_sum_double(number * number);
        if (threadIdx.x % 32 == 0) {
            of_warp[threadIdx.x / 32] = sum;
        }
        __syncthreads();
        for (int warp = 1; threadIdx.x == 0 && warp < TENSOR_BLOCK / 32; warp++) {
            sum += of_warp[warp];
        }
        if (threadIdx.x == 0) {
            partial[first / TENSOR_BLOCK] = sum;
        }
        __syncthreads();
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
        partial_sums<<<1, TENSOR_BLOCK>>>(partial, x);
        LAUNCHED("sumsq, partial sums");
        add_partials<<<1, 32>>>(out, partial, blocks);
        LAUNCHED("sumsq, their sum");
    }
}
