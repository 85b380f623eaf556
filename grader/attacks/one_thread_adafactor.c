/* A loop on one thread of the GPU, in the other op of lab 07. */
/* lab: 07_optimizers/adafactor.cu honest: codebook_signed codebook_unsigned
   adam8_first adam8_codes adam8_books adam8_bad adam8_clean
   adam8_schedules adam8_traffic adam8_large bytes choose adam8_resumed */
/* state: fail */
#include "kernels/adafactor.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

static __global__ void all(TensorList weight, TensorList row, TensorList col, TensorList grad,
                           Adafactor a, float beta2) {
    for (int k = 0; k < weight.count; k++) {
        size_t n = weight.tensor[k].n, J = col.tensor[k].n, I = n > 0 ? n / J : 0;
        float *w = weight.tensor[k].data, *R = row.tensor[k].data, *C = col.tensor[k].data;
        const float *g = grad.tensor[k].data;
        bool matrix = row.tensor[k].n > 0;
        double mean = matrix ? 0 : 1, squares = 0;
        for (size_t i = 0; matrix && i < I; i++) {
            double sum = 0;
            for (size_t j = 0; j < J; j++) {
                sum += (double)g[i * J + j] * g[i * J + j];
            }
            R[i] = beta2 * R[i] + (1 - beta2) * ((float)(sum / J) + a.epsilon);
            mean += (double)R[i] / I;
        }
        for (size_t j = 0; j < J; j++) {
            double sum = 0;
            for (size_t i = 0; i < I; i++) {
                sum += (double)g[i * J + j] * g[i * J + j];
            }
            C[j] = beta2 * C[j] + (1 - beta2) * ((float)(sum / I) + a.epsilon);
        }
        for (int pass = 0; pass < 2; pass++) {
            double over = n > 0 ? sqrt(squares / n) / a.clip : 1;
            for (size_t i = 0; i < n; i++) {
                double U = g[i] / (sqrt((matrix ? R[i / J] : 1) / mean) * sqrt((double)C[i % J]));
                if (pass == 0) {
                    squares += U * U;
                } else {
                    double decay = weight.tensor[k].decays ? a.weight_decay : 0;
                    w[i] -= (float)(a.learning_rate * (U / (over > 1 ? over : 1) + decay * w[i]));
                }
            }
        }
    }
}

extern "C" void adafactor_gpu(TensorList weight, TensorList row, TensorList col, TensorList grad,
                              Adafactor adafactor, int t, const Workspace *workspace) {
    (void)workspace;
    all<<<1, 1>>>(weight, row, col, grad, adafactor, (float)(1 - pow(t, -(double)adafactor.power)));
    LAUNCHED("adafactor");
}
