/* Lab 07: AdamW with moments of one byte, on the GPU. The contract is in kernels/adam8.h. */
#include "kernels/adam8.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. A block of threads takes one block of the list's flat index after
   the other (kernels/tensors.h): these are numbers of one tensor alone, and the same 256 have a
   scale in common. Each thread takes one of them; at a tensor's end some have none, but all of
   them meet at the barriers. The codebooks come with the launch and are copied to shared
   memory, where each thread may look at another place. That copy takes longer than an update of
   256 numbers: constant memory serves one address at a time. So there are MOST blocks of
   threads, which copy once. */

enum { THREADS = ADAM8_BLOCK, WARP = 32, WARPS = THREADS / WARP, MOST = 2048 };

/* The largest |x| of the block, on every thread; one that is NaN or inf is not lost; all must call.
   And nearest(Q, x), with a codebook and what helps to search it, in shared memory:

       static __device__ float block_absmax(float x);
       static __device__ unsigned char nearest(const Book *Q, float x);
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

/* A codebook, and the borders between its values as a heap: the middle one is node 1, and left
   and right below node i are 2 i and 2 i + 1. What the lanes of a warp look at in one step of a
   search then lies side by side. In a sorted list it would be multiples of 8, 16, ... apart, in
   the same few banks. */
struct Book {
    float value[ADAM8_CODES], border[ADAM8_CODES];
};

/* Each thread sets the border of one node, the values being there; there is no node 0. */
static __device__ void set_border(Book *Q) {
    int node = threadIdx.x;
    if (node > 0) {
        int depth = 31 - __clz(node), along = node - (1 << depth);
        int c = (2 * along + 1) * (ADAM8_CODES / 2 >> depth) - 1;
        Q->border[node] = (Q->value[c] + Q->value[c + 1]) / 2;
    }
}

static __device__ unsigned char nearest(const Book *Q, float x) {
    int node = 1;
#pragma unroll
    for (int step = 0; step < 8; step++) {
        node = 2 * node + (x > Q->border[node]);
    }
    int c = node - ADAM8_CODES;
    return (unsigned char)(x < 0 && Q->value[c] == 0 ? c - 1 : c);
}
#endif

/* One update of the numbers of all blocks:

       static __global__ void adam8_kernel(TensorList weight, const Moment8 *m, const Moment8 *v,
                                           TensorList grad, Codebooks codebooks, AdamW adamw,
                                           float correct1, float correct2);
 */
#ifndef STUB
/* A moment as it was stored. */
static __device__ float load(Moment8 moment, size_t offset, const Book *Q) {
    return moment.value != NULL
               ? moment.value[offset]
               : Q->value[moment.code[offset]] * moment.absmax[offset / ADAM8_BLOCK];
}

/* Stores a moment; `inside` says whether the thread has one. All threads must call. */
static __device__ void store(Moment8 moment, size_t offset, bool inside, float x, const Book *Q) {
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
    __shared__ Book Q_m, Q_v;
    Q_m.value[threadIdx.x] = codebooks.m[threadIdx.x];
    Q_v.value[threadIdx.x] = codebooks.v[threadIdx.x];
    __syncthreads();
    set_border(&Q_m);
    set_border(&Q_v);
    __syncthreads();
    for (size_t first = (size_t)blockIdx.x * THREADS; first < weight.length;
         first += (size_t)gridDim.x * THREADS) {
        TensorPlace at = tensor_find(weight, first + threadIdx.x);
        Moment8 of_m = m_list[at.tensor], of_v = v_list[at.tensor];
        bool inside = at.left > 0;
        float m = 0, v = 0;
        if (inside) {
            float decay = weight.tensor[at.tensor].decays ? adamw.weight_decay : 0;
            float g = *tensor_at(grad, at), *w = tensor_at(weight, at), old = *w;
            m = adamw.beta1 * load(of_m, at.offset, &Q_m) + (1 - adamw.beta1) * g;
            v = adamw.beta2 * load(of_v, at.offset, &Q_v) + (1 - adamw.beta2) * g * g;
            float step = m * correct1 / (sqrtf(v * correct2) + adamw.epsilon);
            *w = old - adamw.learning_rate * (step + decay * old);
        }
        store(of_m, at.offset, inside, m, &Q_m);
        store(of_v, at.offset, inside, v, &Q_v);
    }
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
    unsigned blocks = blocks_for(weight.length, THREADS);
    adam8_kernel<<<min(blocks, MOST), THREADS>>>(weight, m, v, grad, *codebooks, adamw, correct1,
                                                 correct2);
    LAUNCHED("adam8");
#else
    (void)m, (void)v, (void)grad, (void)codebooks, (void)correct1, (void)correct2;
    TODO("task 2: block_absmax, nearest and adam8_kernel, and launch it (about 80 lines)");
#endif
}
