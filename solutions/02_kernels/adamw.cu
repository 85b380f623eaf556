/* Lab 02: AdamW, on the GPU. The contract is in kernels/adamw.h. */
#include "kernels/adamw.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. The four lists have one flat index (kernels/tensors.h), and a thread
   takes PACK neighbours of it: it finds their place once, reads four packs, 16 bytes in one access,
   and writes three. Compiled once, without a precision: Real holds a float. */

enum { THREADS = 256 };

/* One update of PACK elements by each thread:

       static __global__ void adamw_kernel(TensorList weight, TensorList m, TensorList v,
                                           TensorList grad, AdamW adamw, float correct1,
                                           float correct2);
 */
#ifndef STUB
/* The list's numbers at a place. */
static __device__ inline Real *reals_at(TensorList list, TensorPlace at) {
    return (Real *)tensor_at(list, at);
}

static __global__ void adamw_kernel(TensorList weight, TensorList m, TensorList v, TensorList grad,
                                    AdamW adamw, float correct1, float correct2) {
    size_t index = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    TensorPlace at = tensor_find(weight, index);
    if (at.left == 0) {
        return;
    }
    float decay = weight.tensor[at.tensor].decays ? adamw.weight_decay : 0;
    float w[PACK], m1[PACK], m2[PACK], g[PACK];
    load_pack(w, reals_at(weight, at), at.left);
    load_pack(m1, reals_at(m, at), at.left);
    load_pack(m2, reals_at(v, at), at.left);
    load_pack(g, reals_at(grad, at), at.left);
    for (int i = 0; i < PACK; i++) {
        m1[i] = adamw.beta1 * m1[i] + (1 - adamw.beta1) * g[i];
        m2[i] = adamw.beta2 * m2[i] + (1 - adamw.beta2) * g[i] * g[i];
        float step = m1[i] * correct1 / (sqrtf(m2[i] * correct2) + adamw.epsilon);
        w[i] -= adamw.learning_rate * (step + decay * w[i]);
    }
    store_pack(reals_at(weight, at), w, at.left);
    store_pack(reals_at(m, at), m1, at.left);
    store_pack(reals_at(v, at), m2, at.left);
}
#endif

extern "C" void adamw_gpu(TensorList weight, TensorList m, TensorList v, TensorList grad,
                          AdamW adamw, int t) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    if (weight.length == 0) {
        return;
    }
    /* The same for all elements, and in double: 1 - beta^t has few digits left in float. */
    float correct1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float correct2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
#ifndef STUB
    adamw_kernel<<<blocks_for(weight.length, THREADS * PACK), THREADS>>>(weight, m, v, grad, adamw,
                                                                         correct1, correct2);
    LAUNCHED("adamw");
#else
    (void)m, (void)v, (void)grad, (void)correct1, (void)correct2;
    TODO("task 3: adamw_kernel, and launch it (about 30 lines)");
#endif
}
