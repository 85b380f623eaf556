/* Lab 07: AdamW with moments of one byte, on the GPU. The contract is in kernels/adam8.h. */
#include "kernels/adam8.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. A block of threads takes one block of the list's flat index
   (kernels/tensors.h): these are numbers of one tensor alone, and the same 256 have a scale in
   common. Each thread takes one of them; at a tensor's end some have none, but all of them meet at
   the barriers. The codebooks come with the launch and are copied to shared memory, where each
   thread may look at another place. */

enum { THREADS = ADAM8_BLOCK, WARP = 32, WARPS = THREADS / WARP };

/* The largest |x| of the block, on every thread; one that is NaN or inf is not lost; all must call.
   And nearest(Q, x):

       static __device__ float block_absmax(float x);
       static __device__ unsigned char nearest(const float *Q, float x);
 */
#ifndef STUB
/* As whole numbers, the bits of floats without a sign have the order of their values, with NaN
   above all. */
static __device__ float block_absmax(float x) {
    __shared__ unsigned of_warp[WARPS];
    unsigned most = __float_as_uint(x) & 0x7fffffffu;
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        unsigned other = __shfl_xor_sync(0xffffffffu, most, distance);
        most = other > most ? other : most;
    }
    __syncthreads(); /* the moment before this one has been read */
    if (threadIdx.x % WARP == 0) {
        of_warp[threadIdx.x / WARP] = most;
    }
    __syncthreads();
    for (int warp = 0; warp < WARPS; warp++) {
        most = of_warp[warp] > most ? of_warp[warp] : most;
    }
    return __uint_as_float(most);
}

/* In 8 steps. */
static __device__ unsigned char nearest(const float *Q, float x) {
    int low = 0, high = ADAM8_CODES - 1;
    while (low < high) {
        int c = (low + high) / 2;
        if (x > (Q[c] + Q[c + 1]) / 2) {
            low = c + 1;
        } else {
            high = c;
        }
    }
    return (unsigned char)(x < 0 && Q[low] == 0 ? low - 1 : low);
}
#endif

/* One update of the numbers of a block:

       static __global__ void adam8_kernel(TensorList weight, const Moment8 *m, const Moment8 *v,
                                           TensorList grad, Codebooks codebooks, AdamW adamw,
                                           float correct1, float correct2);
 */
#ifndef STUB
/* A moment as it was stored. */
static __device__ float load(Moment8 moment, size_t offset, const float *Q) {
    return moment.value != NULL ? moment.value[offset]
                                : Q[moment.code[offset]] * moment.absmax[offset / ADAM8_BLOCK];
}

/* Stores a moment; `inside` says whether the thread has one. All threads must call. */
static __device__ void store(Moment8 moment, size_t offset, bool inside, float x, const float *Q) {
    if (moment.value != NULL) {
        if (inside) {
            moment.value[offset] = x;
        }
        return;
    }
    float absmax = block_absmax(x);
    if (inside) {
        moment.code[offset] = nearest(Q, absmax == 0 ? 0 : x / absmax);
    }
    if (threadIdx.x == 0) {
        moment.absmax[offset / ADAM8_BLOCK] = absmax;
    }
}

static __global__ void adam8_kernel(TensorList weight, const Moment8 *m_list, const Moment8 *v_list,
                                    TensorList grad, Codebooks codebooks, AdamW adamw,
                                    float correct1, float correct2) {
    __shared__ float Q_m[ADAM8_CODES], Q_v[ADAM8_CODES];
    Q_m[threadIdx.x] = codebooks.m[threadIdx.x];
    Q_v[threadIdx.x] = codebooks.v[threadIdx.x];
    __syncthreads();
    TensorPlace at = tensor_find(weight, (size_t)blockIdx.x * THREADS + threadIdx.x);
    Moment8 of_m = m_list[at.tensor], of_v = v_list[at.tensor];
    bool inside = at.left > 0;
    float m = 0, v = 0;
    if (inside) {
        float decay = weight.tensor[at.tensor].decays ? adamw.weight_decay : 0;
        float g = *tensor_at(grad, at), *w = tensor_at(weight, at);
        m = adamw.beta1 * load(of_m, at.offset, Q_m) + (1 - adamw.beta1) * g;
        v = adamw.beta2 * load(of_v, at.offset, Q_v) + (1 - adamw.beta2) * g * g;
        float step = m * correct1 / (sqrtf(v * correct2) + adamw.epsilon);
        *w -= adamw.learning_rate * (step + decay * *w);
    }
    store(of_m, at.offset, inside, m, Q_m);
    store(of_v, at.offset, inside, v, Q_v);
}
#endif

extern "C" void adam8_gpu(TensorList weight, const Moment8 *m, const Moment8 *v, TensorList grad,
                          const Codebooks *codebooks, AdamW adamw, int t) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    if (weight.length == 0) {
        return;
    }
    /* The same for all elements, and in double: 1 - beta^t has few digits left in float. */
    float correct1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float correct2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
#ifndef STUB
    adam8_kernel<<<(unsigned)(weight.length / THREADS), THREADS>>>(weight, m, v, grad, *codebooks,
                                                                   adamw, correct1, correct2);
    LAUNCHED("adam8");
#else
    (void)m, (void)v, (void)grad, (void)codebooks, (void)correct1, (void)correct2;
    TODO("task 2: block_absmax, nearest and adam8_kernel, and launch it (about 60 lines)");
#endif
}
