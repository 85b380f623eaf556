/* A loop on one thread of the GPU, in lab 05. */
/* lab: 05_fp16/unscale.cu honest: cast, cast_traffic, scaler_init, scaler_trace,
   scaler_factors, scaler_limits, scaler_resumed, gradients, clipped, scales, bad_numbers,
   trace, update, bf16, together, on_the_gpu */
/* state: fail */
#include "kernels/unscale.h"

#include "common/lab.h"
#include "kernels/real.cuh"

static __global__ void unscale(float *grad, size_t n, float inv_scale, float *found_inf) {
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        found = found || !isfinite(grad[i]);
        grad[i] *= inv_scale;
    }
    if (found) {
        found_inf[0] = 1;
    }
}

extern "C" void unscale_gpu(float *grad, size_t n, float inv_scale, float *found_inf) {
    if (n > 0) {
        unscale<<<1, 1>>>(grad, n, inv_scale, found_inf);
        LAUNCHED("unscale");
    }
}
