/* A loop on one thread of the GPU, in the other op of lab 05. */
/* lab: 05_fp16/cast.cu honest: unscale, unscale_found, unscale_schedules, unscale_traffic,
   scaler_init, scaler_trace, scaler_factors, scaler_limits, scaler_resumed, gradients, clipped,
   scales, bad_numbers, trace, update, bf16, together, on_the_gpu */
/* state: fail */
#include "kernels/cast.h"

#include "common/lab.h"
#include "kernels/real.cuh"

static __global__ void from_float(Real *out, const float *in, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = real(in[i]);
    }
}

static __global__ void to_floats(float *out, const Real *in, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = to_float(in[i]);
    }
}

extern "C" void GPU(cast_from_float)(Real *out, const float *in, size_t n) {
    if (n > 0) {
        from_float<<<1, 1>>>(out, in, n);
        LAUNCHED("cast_from_float");
    }
}

extern "C" void GPU(cast_to_float)(float *out, const Real *in, size_t n) {
    if (n > 0) {
        to_floats<<<1, 1>>>(out, in, n);
        LAUNCHED("cast_to_float");
    }
}
