/* Lab 07: Adafactor, on the GPU. The contract is in kernels/adafactor.h. */
#include "kernels/adafactor.h"

#include <math.h>

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. Means first: a grid of SHARES blocks for each tensor; they take its rows
   in turn, and then, WIDTH at a time, its columns. Then each block of threads takes a block of the
   lists' flat index, as in sumsq, and leaves a sum of squares in the workspace; a block for each
   tensor makes one factor of these; and the update, of one number a thread, multiplies by it.

       R, C  ->  partial sums of g^2 / (R C)  ->  factor = sqrt(mean(R)) lr / max(1, rms(U) / clip)

   mean(R) is the same for all of a tensor: it is left out until there is one place to work it
   out. */

enum { THREADS = TENSOR_BLOCK, SHARES = 32, WIDTH = 32, HEIGHT = THREADS / WIDTH };

/* Sum over the threads of a block, on every thread; all must call. */
GIVEN static __device__ double block_sum(double x) {
    __shared__ double of_warp[THREADS / 32];
    x = warp_sum_double(x);
    __syncthreads(); /* the sum before this one has been read */
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = x;
    }
    __syncthreads();
    double sum = 0;
    for (int warp = 0; warp < THREADS / 32; warp++) {
        sum += of_warp[warp];
    }
    return sum;
}

/* R of the tensor blockIdx.y, and C of it:

       static __global__ void adafactor_rows_kernel(TensorList row, TensorList col, TensorList grad,
                                                    float beta2, float epsilon);
       static __global__ void adafactor_columns_kernel(TensorList col, TensorList grad, float beta2,
                                                       float epsilon);
 */
#ifndef STUB
static __global__ void adafactor_rows_kernel(TensorList row, TensorList col, TensorList grad,
                                             float beta2, float epsilon) {
    TensorEntry R = row.tensor[blockIdx.y];
    size_t J = col.tensor[blockIdx.y].n;
    for (size_t i = blockIdx.x; i < R.n; i += SHARES) {
        const float *g = grad.tensor[blockIdx.y].data + i * J;
        float sum = 0;
        for (size_t j = threadIdx.x; j < J; j += THREADS) {
            sum += g[j] * g[j];
        }
        float mean = (float)(block_sum((double)sum) / (double)J) + epsilon;
        if (threadIdx.x == 0) {
            R.data[i] = beta2 * R.data[i] + (1 - beta2) * mean;
        }
    }
}

static __global__ void adafactor_columns_kernel(TensorList col, TensorList grad, float beta2,
                                                float epsilon) {
    __shared__ float sums[HEIGHT][WIDTH];
    TensorEntry C = col.tensor[blockIdx.y], g = grad.tensor[blockIdx.y];
    size_t J = C.n, I = J > 0 ? g.n / J : 0;
    int x = threadIdx.x % WIDTH, y = threadIdx.x / WIDTH;
    for (size_t first = (size_t)blockIdx.x * WIDTH; first < J; first += SHARES * WIDTH) {
        size_t j = first + x;
        float sum = 0;
        for (size_t i = y; i < I && j < J; i += HEIGHT) {
            sum += g.data[i * J + j] * g.data[i * J + j];
        }
        sums[y][x] = sum;
        __syncthreads();
        if (y == 0 && j < J) {
            double total = 0;
            for (int part = 0; part < HEIGHT; part++) {
                total += (double)sums[part][x];
            }
            C.data[j] = beta2 * C.data[j] + (1 - beta2) * ((float)(total / (double)I) + epsilon);
        }
        __syncthreads();
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
/* U without mean(R). */
static __device__ inline float scaled(TensorList row, TensorList col, TensorList grad,
                                      TensorPlace at) {
    TensorEntry R = row.tensor[at.tensor], C = col.tensor[at.tensor];
    float of_row = R.n > 0 ? sqrtf(R.data[at.offset / C.n]) : 1;
    return *tensor_at(grad, at) / of_row / sqrtf(C.data[at.offset % C.n]);
}

static __global__ void adafactor_squares_kernel(double *partial, TensorList row, TensorList col,
                                                TensorList grad) {
    TensorPlace at = tensor_find(grad, (size_t)blockIdx.x * THREADS + threadIdx.x);
    double U = at.left > 0 ? (double)scaled(row, col, grad, at) : 0;
    double sum = block_sum(U * U);
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
    TensorPlace at = tensor_find(weight, (size_t)blockIdx.x * THREADS + threadIdx.x);
    if (at.left == 0) {
        return;
    }
    TensorEntry entry = weight.tensor[at.tensor];
    float rate = (float)factor[entry.first / TENSOR_BLOCK], *w = tensor_at(weight, at);
    float decay = entry.decays ? adafactor.learning_rate * adafactor.weight_decay : 0;
    *w -= rate * scaled(row, col, grad, at) + decay * *w;
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
    dim3 shares(SHARES, (unsigned)weight.count);
#ifndef STUB
    adafactor_rows_kernel<<<shares, THREADS>>>(row, col, grad, beta2, adafactor.epsilon);
    LAUNCHED("adafactor, rows");
    adafactor_columns_kernel<<<shares, THREADS>>>(col, grad, beta2, adafactor.epsilon);
    LAUNCHED("adafactor, columns");
#else
    (void)row, (void)col, (void)grad, (void)beta2, (void)shares;
    TODO("task 3: adafactor_rows_kernel and adafactor_columns_kernel, and launch them (about 45 "
         "lines)");
#endif
#ifndef STUB
    unsigned blocks = (unsigned)(weight.length / TENSOR_BLOCK);
    double *partial = (double *)workspace->data;
    adafactor_squares_kernel<<<blocks, THREADS>>>(partial, row, col, grad);
    LAUNCHED("adafactor, squares");
    adafactor_factor_kernel<<<(unsigned)weight.count, THREADS>>>(partial, row, grad, adafactor);
    LAUNCHED("adafactor, factors");
    adafactor_update_kernel<<<blocks, THREADS>>>(weight, row, col, grad, partial, adafactor);
    LAUNCHED("adafactor, update");
#else
    TODO("task 4: adafactor_squares_kernel, adafactor_factor_kernel and adafactor_update_kernel, "
         "and launch them (about 55 lines)");
#endif
}
