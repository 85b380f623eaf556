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

/* g / sqrt(R C) of each number, the sums of its square, the factor, and the update:

       static __global__ void adafactor_squares_kernel(double *partial, TensorList row,
                                                       TensorList col, TensorList grad);
       static __global__ void adafactor_factor_kernel(double *partial, TensorList row,
                                                      TensorList grad, Adafactor adafactor);
       static __global__ void adafactor_update_kernel(TensorList weight, TensorList row,
                                                      TensorList col, TensorList grad,
                                                      const double *factor, Adafactor adafactor);
 */

extern "C" void adafactor_gpu(TensorList weight, TensorList row, TensorList col, TensorList grad,
                              Adafactor adafactor, int t, const Workspace *workspace) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    CHECK(workspace->bytes >= adafactor_scratch(weight.length), "workspace of %zu bytes",
          workspace->bytes);
    if (weight.length == 0) {
        return;
    }
    float beta2 = (float)(1 - pow(t, -(double)adafactor.power));
    (void)row, (void)col, (void)grad, (void)beta2;
    TODO("task 3: adafactor_rows_kernel and adafactor_columns_kernel, and launch them (about 45 "
         "lines)");
    TODO("task 4: adafactor_squares_kernel, adafactor_factor_kernel and adafactor_update_kernel, "
         "and launch them (about 75 lines)");
}
