#include "kernels/adamw.h"

#include <math.h>

void adamw_cpu(float *weight, float *m, float *v, const float *grad, size_t n, AdamW adamw, int t) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    float correct1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float correct2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++) {
        m[i] = adamw.beta1 * m[i] + (1 - adamw.beta1) * grad[i];
        v[i] = adamw.beta2 * v[i] + (1 - adamw.beta2) * grad[i] * grad[i];
        float step = m[i] * correct1 / (sqrtf(v[i] * correct2) + adamw.epsilon);
        weight[i] -= adamw.learning_rate * (step + adamw.weight_decay * weight[i]);
    }
}
