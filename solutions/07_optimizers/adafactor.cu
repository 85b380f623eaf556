/* Lab 07: Adafactor, on the GPU. The contract is in kernels/adafactor.h. */
#include "kernels/adafactor.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. Means first: a warp for each number of R, and for each WIDTH numbers
   of C a block of threads, by the flat indices of these lists. A column is far from its
   neighbour in the next row, and a matrix may have few: WIDTH floats are the 32 bytes that
   memory moves at once, and no more, so that many blocks share the work. Then each block of
   threads takes a block of the gradients' flat index, PACK numbers a thread as in sumsq, and
   leaves a sum of squares in the workspace; a block for each tensor makes one factor of these;
   and the update, of PACK numbers a thread, multiplies by it.

       R, C  ->  partial sums of g^2 / (R C)  ->  factor = sqrt(mean(R)) lr / max(1, rms(U) / clip)

   mean(R) is the same for all of a tensor: it is left out until there is one place to work it
   out. Compiled once, without a precision: Real holds a float.

   Loops over rows and columns count in ptrdiff_t: where a sum may wrap around, as in a size_t,
   the compiler does not know how many steps there are, and has one load on its way in place of
   many. */

enum { THREADS = TENSOR_BLOCK, WARP = 32, WIDTH = 8, HEIGHT = THREADS / WIDTH };

/* Sum over the threads of a block, at most THREADS, on every thread; all must call. */
GIVEN static __device__ double block_sum(double x) {
    __shared__ double of_warp[THREADS / 32];
    x = warp_sum_double(x);
    __syncthreads(); /* the sum before this one has been read */
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = x;
    }
    __syncthreads();
    double sum = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; warp++) {
        sum += of_warp[warp];
    }
    return sum;
}

/* R, a number for each warp, and C:

       static __global__ void adafactor_rows_kernel(TensorList row, TensorList col, TensorList grad,
                                                    float beta2, float epsilon);
       static __global__ void adafactor_columns_kernel(TensorList col, TensorList grad, float beta2,
                                                       float epsilon);
 */
#ifndef STUB
static __global__ void adafactor_rows_kernel(TensorList row, TensorList col, TensorList grad,
                                             float beta2, float epsilon) {
    TensorPlace at = tensor_find(row, ((size_t)blockIdx.x * THREADS + threadIdx.x) / WARP);
    if (at.left == 0) {
        return;
    }
    ptrdiff_t J = col.tensor[at.tensor].n;
    const float *g = grad.tensor[at.tensor].data + at.offset * J;
    float sum = 0, *R = tensor_at(row, at);
#pragma unroll 8
    for (ptrdiff_t j = threadIdx.x % WARP; j < J; j += WARP) {
        sum += g[j] * g[j];
    }
    float mean = (float)(warp_sum_double((double)sum) / (double)J) + epsilon;
    if (threadIdx.x % WARP == 0) {
        *R = beta2 * *R + (1 - beta2) * mean;
    }
}

static __global__ void adafactor_columns_kernel(TensorList col, TensorList grad, float beta2,
                                                float epsilon) {
    __shared__ float sums[HEIGHT][WIDTH];
    int x = threadIdx.x % WIDTH, y = threadIdx.x / WIDTH;
    TensorPlace at = tensor_find(col, (size_t)blockIdx.x * WIDTH + x);
    ptrdiff_t J = col.tensor[at.tensor].n, I = at.left > 0 ? grad.tensor[at.tensor].n / J : 0;
    const float *g = grad.tensor[at.tensor].data + at.offset;
    float sum = 0, *C = tensor_at(col, at);
#pragma unroll 16
    for (ptrdiff_t i = y; i < I; i += HEIGHT) {
        sum += g[i * J] * g[i * J];
    }
    sums[y][x] = sum;
    __syncthreads();
    if (y == 0 && at.left > 0) {
        double total = 0;
        for (int part = 0; part < HEIGHT; part++) {
            total += (double)sums[part][x];
        }
        *C = beta2 * *C + (1 - beta2) * ((float)(total / (double)I) + epsilon);
    }
}
#endif

/* g / sqrt(R C) of each number, the sums of its square, the factor, and the update:

       static __global__ void adafactor_squares_kernel(double *partial, TensorList row,
                                                       TensorList col, TensorList grad);
       static __global__ void adafactor_factor_kernel(double *partial, TensorList row,
                                                      TensorList grad, Adafactor adafactor);
       static __global__ void adafactor_update_kernel(TensorList weight, TensorList row,
                                                      TensorList col, TensorList grad,
                                                      const double *factor, Adafactor adafactor);
 */
#ifndef STUB
/* U without mean(R), of PACK numbers from a place on; beyond the tensor's end it is 0. Their C
   are one access where they are a whole pack of C, as everywhere in most matrices. */
static __device__ inline void scaled(float U[PACK], TensorList row, TensorList col, TensorList grad,
                                     TensorPlace at) {
    TensorEntry R = row.tensor[at.tensor], C = col.tensor[at.tensor];
    size_t i = at.offset / C.n, j = at.offset % C.n;
    bool whole = j % PACK == 0 && j + PACK <= C.n;
    float c[PACK], of_row = 1;
    load_pack(U, (const Real *)tensor_at(grad, at), at.left);
    load_pack(c, (const Real *)C.data + j, whole ? PACK : 0);
    for (int k = 0; k < PACK; k++) {
        if (k < at.left) {
            if (R.n > 0 && (k == 0 || j == 0)) { /* a row begins, here at least */
                of_row = sqrtf(R.data[i]);
            }
            U[k] = U[k] / of_row / sqrtf(whole ? c[k] : C.data[j]);
        }
        if (++j == C.n) {
            i++, j = 0;
        }
    }
}

static __global__ void adafactor_squares_kernel(double *partial, TensorList row, TensorList col,
                                                TensorList grad) {
    TensorPlace at = tensor_find(grad, ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK);
    float U[PACK];
    double sum = 0;
    scaled(U, row, col, grad, at);
    for (int k = 0; k < PACK; k++) {
        sum += (double)U[k] * (double)U[k];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

/* In place of the tensor's first partial sum. */
static __global__ void adafactor_factor_kernel(double *partial, TensorList row, TensorList grad,
                                               Adafactor adafactor) {
    TensorEntry R = row.tensor[blockIdx.x], g = grad.tensor[blockIdx.x];
    double *own = partial + g.first / TENSOR_BLOCK, squares = 0, rows = 0;
    for (size_t i = threadIdx.x; i < (g.n + TENSOR_BLOCK - 1) / TENSOR_BLOCK; i += THREADS) {
        squares += own[i];
    }
    for (size_t i = threadIdx.x; i < R.n; i += THREADS) {
        rows += (double)R.data[i];
    }
    squares = block_sum(squares);
    rows = block_sum(rows);
    if (threadIdx.x == 0 && g.n > 0) {
        double mean = R.n > 0 ? rows / (double)R.n : 1;
        double over = sqrt(mean * squares / (double)g.n) / (double)adafactor.clip;
        own[0] = sqrt(mean) * (double)adafactor.learning_rate / (over > 1 ? over : 1);
    }
}

static __global__ void adafactor_update_kernel(TensorList weight, TensorList row, TensorList col,
                                               TensorList grad, const double *factor,
                                               Adafactor adafactor) {
    TensorPlace at = tensor_find(weight, ((size_t)blockIdx.x * THREADS + threadIdx.x) * PACK);
    if (at.left == 0) {
        return;
    }
    TensorEntry entry = weight.tensor[at.tensor];
    float rate = (float)factor[entry.first / TENSOR_BLOCK], w[PACK], U[PACK];
    float decay = entry.decays ? adafactor.learning_rate * adafactor.weight_decay : 0;
    load_pack(w, (const Real *)tensor_at(weight, at), at.left);
    scaled(U, row, col, grad, at);
    for (int k = 0; k < PACK; k++) {
        w[k] -= rate * U[k] + decay * w[k];
    }
    store_pack((Real *)tensor_at(weight, at), w, at.left);
}
#endif

extern "C" void adafactor_gpu(TensorList weight, TensorList row, TensorList col, TensorList grad,
                              Adafactor adafactor, int t, const Workspace *workspace) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    CHECK(workspace->bytes >= adafactor_scratch(weight.length), "workspace of %zu bytes",
          workspace->bytes);
    if (weight.length == 0) {
        return;
    }
    float beta2 = (float)(1 - pow(t, -(double)adafactor.power));
#ifndef STUB
    if (row.length > 0) {
        adafactor_rows_kernel<<<blocks_for(row.length * WARP, THREADS), THREADS>>>(
            row, col, grad, beta2, adafactor.epsilon);
        LAUNCHED("adafactor, rows");
    }
    adafactor_columns_kernel<<<blocks_for(col.length, WIDTH), THREADS>>>(col, grad, beta2,
                                                                         adafactor.epsilon);
    LAUNCHED("adafactor, columns");
#else
    (void)row, (void)col, (void)grad, (void)beta2;
    TODO("task 3: adafactor_rows_kernel and adafactor_columns_kernel, and launch them (about 45 "
         "lines)");
#endif
#ifndef STUB
    unsigned blocks = (unsigned)(weight.length / TENSOR_BLOCK);
    double *partial = (double *)workspace->data;
    adafactor_squares_kernel<<<blocks, TENSOR_BLOCK / PACK>>>(partial, row, col, grad);
    LAUNCHED("adafactor, squares");
    adafactor_factor_kernel<<<(unsigned)weight.count, THREADS>>>(partial, row, grad, adafactor);
    LAUNCHED("adafactor, factors");
    adafactor_update_kernel<<<blocks_for(weight.length, THREADS * PACK), THREADS>>>(
        weight, row, col, grad, partial, adafactor);
    LAUNCHED("adafactor, update");
#else
    TODO("task 4: adafactor_squares_kernel, adafactor_factor_kernel and adafactor_update_kernel, "
         "and launch them (about 75 lines)");
#endif
}
