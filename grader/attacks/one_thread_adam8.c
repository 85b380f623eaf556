/* A loop on one thread of the GPU, in lab 07: right numbers, and no kernel. */
/* lab: 07_optimizers/adam8.cu honest: codebook_signed codebook_unsigned means
   adafactor adafactor_tiny adafactor_apart adafactor_clean adafactor_schedules
   adafactor_traffic bytes choose adafactor_resumed */
/* state: fail */
#include "kernels/adam8.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

static __device__ float value_of(Moment8 moment, const float *Q, size_t i) {
    return moment.value != NULL ? moment.value[i] : Q[moment.code[i]] * moment.absmax[i / 256];
}

static __device__ void keep(Moment8 moment, const float *Q, size_t i, size_t n, const float *x) {
    unsigned most = 0;
    for (size_t k = 0; k < n; k++) {
        unsigned bits = __float_as_uint(x[k]) & 0x7fffffffu;
        most = bits > most ? bits : most;
    }
    float absmax = __uint_as_float(most);
    for (size_t k = 0; k < n; k++) {
        if (moment.value != NULL) {
            moment.value[i + k] = x[k];
            continue;
        }
        float y = absmax == 0 ? 0 : x[k] / absmax;
        int c = 0;
        while (c < 255 && y > (Q[c] + Q[c + 1]) / 2) {
            c++;
        }
        moment.code[i + k] = (unsigned char)(y < 0 && Q[c] == 0 ? c - 1 : c);
    }
    if (moment.value == NULL) {
        moment.absmax[i / 256] = absmax;
    }
}

static __global__ void all(TensorList weight, const Moment8 *m_list, const Moment8 *v_list,
                           TensorList grad, Codebooks books, AdamW a, float c1, float c2) {
    for (size_t index = 0; index < weight.length; index += 256) {
        TensorPlace at = tensor_find(weight, index);
        Moment8 of_m = m_list[at.tensor], of_v = v_list[at.tensor];
        size_t n = at.left < 256 ? at.left : 256;
        float m[256], v[256], *w = tensor_at(weight, at), *g = tensor_at(grad, at);
        float decay = weight.tensor[at.tensor].decays ? a.weight_decay : 0;
        for (size_t i = 0; i < n; i++) {
            m[i] = a.beta1 * value_of(of_m, books.m, at.offset + i) + (1 - a.beta1) * g[i];
            v[i] = a.beta2 * value_of(of_v, books.v, at.offset + i) + (1 - a.beta2) * g[i] * g[i];
            w[i] -= a.learning_rate * (m[i] * c1 / (sqrtf(v[i] * c2) + a.epsilon) + decay * w[i]);
        }
        keep(of_m, books.m, at.offset, n, m);
        keep(of_v, books.v, at.offset, n, v);
    }
}

extern "C" void adam8_gpu(TensorList weight, const Moment8 *m, const Moment8 *v, TensorList grad,
                          const Codebooks *codebooks, AdamW adamw, int t) {
    float c1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float c2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
    all<<<1, 1>>>(weight, m, v, grad, *codebooks, adamw, c1, c2);
    LAUNCHED("adam8");
}
