/* A loop on one thread of the GPU, in the captured update of lab 09. */
/* lab: 09_fusion/control.cu honest: norm_forward norm_clean norm_traffic norm_backward back_clean
   back_schedules back_traffic chunk_rows head_loss head_gradients head_half head_memory clip
   replays overflow guard launches together chains */
/* state: fail */
#include "labs/09_fusion/contract.h"

#include "common/lab.h"
#include "kernels/real.cuh"

static __global__ void clip(StepResult *result, float max_norm) {
    float norm = sqrtf(result->sum);
    result->norm = norm;
    result->factor = max_norm > 0 && !(norm <= max_norm) ? max_norm / (norm + 1e-6f) : 1;
}

static __global__ void update_all(TensorList weight, TensorList m_list, TensorList v_list,
                                  TensorList grad, AdamW a, const StepControl *control,
                                  const StepResult *result) {
    for (size_t index = 0; index < weight.length && result->found == 0; index++) {
        TensorPlace at = tensor_find(weight, index);
        if (at.left == 0) {
            continue;
        }
        float *w = tensor_at(weight, at), *m = tensor_at(m_list, at), *v = tensor_at(v_list, at);
        float decay = weight.tensor[at.tensor].decays ? a.weight_decay : 0;
        float g = *tensor_at(grad, at) * result->factor;
        *m = a.beta1 * *m + (1 - a.beta1) * g;
        *v = a.beta2 * *v + (1 - a.beta2) * g * g;
        float step = *m * control->correct1 / (sqrtf(*v * control->correct2) + a.epsilon);
        *w -= control->learning_rate * (step + decay * *w);
    }
}

extern "C" void control_clip(StepResult *result, float max_norm) {
    clip<<<1, 1>>>(result, max_norm);
    LAUNCHED("control_clip");
}

extern "C" void control_adamw(TensorList weight, TensorList m, TensorList v, TensorList grad,
                              AdamW adamw, const StepControl *control, const StepResult *result) {
    if (weight.length > 0) {
        update_all<<<1, 1>>>(weight, m, v, grad, adamw, control, result);
        LAUNCHED("control_adamw");
    }
}
