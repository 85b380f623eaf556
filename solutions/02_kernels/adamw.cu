/* Lab 02: AdamW, on the GPU. The contract is in kernels/adamw.h. */
#include "kernels/adamw.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. The four tensors are rows of n numbers, and a thread takes PACK
   neighbours of each, 16 bytes in one access: it reads four packs and writes three. Compiled once,
   without a precision: Real is a float. */

enum { THREADS = 256 };

/* One update of PACK elements by each thread:

       static __global__ void update(Real *weight, Real *m, Real *v, const Real *grad, size_t n,
                                     AdamW adamw, float correct1, float correct2);
 */
#ifdef SOLUTION
static __global__ void update(Real *weight, Real *m, Real *v, const Real *grad, size_t n,
                              AdamW adamw, float correct1, float correct2) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    if (first >= n) {
        return;
    }
    float w[PACK], m1[PACK], m2[PACK], g[PACK];
    load_pack(w, weight + first, n - first);
    load_pack(m1, m + first, n - first);
    load_pack(m2, v + first, n - first);
    load_pack(g, grad + first, n - first);
    for (int i = 0; i < PACK; i++) {
        m1[i] = adamw.beta1 * m1[i] + (1 - adamw.beta1) * g[i];
        m2[i] = adamw.beta2 * m2[i] + (1 - adamw.beta2) * g[i] * g[i];
        float step = m1[i] * correct1 / (sqrtf(m2[i] * correct2) + adamw.epsilon);
        w[i] -= adamw.learning_rate * (step + adamw.weight_decay * w[i]);
    }
    store_pack(weight + first, w, n - first);
    store_pack(m + first, m1, n - first);
    store_pack(v + first, m2, n - first);
}
#endif

extern "C" void adamw_gpu(float *weight, float *m, float *v, const float *grad, size_t n,
                          AdamW adamw, int t) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    if (n == 0) {
        return;
    }
    /* The same for all elements, and in double: 1 - beta^t has few digits left in float. */
    float correct1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float correct2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
#ifdef SOLUTION
    update<<<blocks_for(n, THREADS * PACK), THREADS>>>(
        (Real *)weight, (Real *)m, (Real *)v, (const Real *)grad, n, adamw, correct1, correct2);
    LAUNCHED("adamw");
#else
    (void)weight, (void)m, (void)v, (void)grad, (void)correct1, (void)correct2;
    TODO("task 3: update, and launch it (about 25 lines)");
#endif
}
