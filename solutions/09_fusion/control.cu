/* Lab 09: clipping and AdamW in a captured step, their numbers in device memory. The contract is in
   labs/09_fusion/contract.h. */
#include "labs/09_fusion/contract.h"

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. clip_kernel: a single thread. adamw_controlled_kernel: as in adamw.cu of
   lab 02, a thread for PACK neighbours of the flat index. Compiled once, without a precision: Real
   is a float. */

enum { THREADS = 256 };

/* Norm and factor, by one thread:

       static __global__ void clip_kernel(StepResult *result, float max_norm);
 */
#ifndef STUB
static __global__ void clip_kernel(StepResult *result, float max_norm) {
    float norm = sqrtf(result->sum);
    result->norm = norm;
    result->factor = max_norm > 0 && !(norm <= max_norm) ? max_norm / (norm + 1e-6f) : 1;
}
#endif

/* One update of PACK elements by each thread; nothing where found is not 0:

       static __global__ void adamw_controlled_kernel(TensorList weight, TensorList m, TensorList v,
                                                      TensorList grad, AdamW adamw,
                                                      const StepControl *control,
                                                      const StepResult *result);
 */
#ifndef STUB
static __device__ inline Real *reals_at(TensorList list, TensorPlace at) {
    return (Real *)tensor_at(list, at);
}

static __global__ void adamw_controlled_kernel(TensorList weight, TensorList m, TensorList v,
                                               TensorList grad, AdamW adamw,
                                               const StepControl *control,
                                               const StepResult *result) {
    size_t index = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    TensorPlace at = tensor_find(weight, index);
    if (at.left == 0 || result->found != 0) {
        return;
    }
    float factor = result->factor, rate = control->learning_rate;
    float correct1 = control->correct1, correct2 = control->correct2;
    float decay = weight.tensor[at.tensor].decays ? adamw.weight_decay : 0;
    float w[PACK], m1[PACK], m2[PACK], g[PACK];
    load_pack(w, reals_at(weight, at), at.left);
    load_pack(m1, reals_at(m, at), at.left);
    load_pack(m2, reals_at(v, at), at.left);
    load_pack(g, reals_at(grad, at), at.left);
    for (int i = 0; i < PACK; i++) {
        g[i] *= factor;
        m1[i] = adamw.beta1 * m1[i] + (1 - adamw.beta1) * g[i];
        m2[i] = adamw.beta2 * m2[i] + (1 - adamw.beta2) * g[i] * g[i];
        float step = m1[i] * correct1 / (sqrtf(m2[i] * correct2) + adamw.epsilon);
        w[i] -= rate * (step + decay * w[i]);
    }
    store_pack(reals_at(weight, at), w, at.left);
    store_pack(reals_at(m, at), m1, at.left);
    store_pack(reals_at(v, at), m2, at.left);
}
#endif

extern "C" void control_clip(StepResult *result, float max_norm) {
#ifndef STUB
    clip_kernel<<<1, 1>>>(result, max_norm);
    LAUNCHED("control_clip");
#else
    (void)result, (void)max_norm;
    TODO("task 4: norm and factor on the device (about 6 lines)");
#endif
}

extern "C" void control_adamw(TensorList weight, TensorList m, TensorList v, TensorList grad,
                              AdamW adamw, const StepControl *control, const StepResult *result) {
    if (weight.length == 0) {
        return;
    }
#ifndef STUB
    adamw_controlled_kernel<<<blocks_for(weight.length, THREADS * PACK), THREADS>>>(
        weight, m, v, grad, adamw, control, result);
    LAUNCHED("control_adamw");
#else
    (void)m, (void)v, (void)grad, (void)adamw, (void)control, (void)result;
    TODO("task 4: adamw.cu of lab 02, with its numbers in memory (about 30 lines)");
#endif
}
