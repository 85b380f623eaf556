/* AdamW on the CPU, one update of each element. The contract, with the formula, is in adamw.h. */
#include "kernels/adamw.h"

#include <math.h>

void adamw_cpu(TensorList weight, TensorList m_list, TensorList v_list, TensorList grad,
               AdamW adamw, int t) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    /* the bias corrections, in double: 1 - beta^t has few digits left in float */
    float correct1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float correct2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
#pragma omp parallel for
    for (size_t index = 0; index < weight.length; index += TENSOR_BLOCK) {
        TensorPlace at = tensor_find(weight, index);
        float *w = tensor_at(weight, at), *m = tensor_at(m_list, at), *v = tensor_at(v_list, at);
        const float *g = tensor_at(grad, at);
        float decay = weight.tensor[at.tensor].decays ? adamw.weight_decay : 0;
        size_t n = tensor_run(at);
        /* m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
           w -= learning_rate * (m' / (sqrt(v') + epsilon) + decay * w), with m' and v' corrected */
#pragma omp simd
        for (size_t i = 0; i < n; i++) {
            m[i] = adamw.beta1 * m[i] + (1 - adamw.beta1) * g[i];
            v[i] = adamw.beta2 * v[i] + (1 - adamw.beta2) * g[i] * g[i];
            float step = m[i] * correct1 / (sqrtf(v[i] * correct2) + adamw.epsilon);
            w[i] -= adamw.learning_rate * (step + decay * w[i]);
        }
    }
}
