/* Lab 05: between the storage type and float, on the GPU. The contract is in kernels/cast.h. */
#include "kernels/cast.h"

#include "common/lab.h"
#include "kernels/real.cuh"

/* How threads map to data. A thread takes four neighbours, whatever the precision: 16 bytes of
   floats, and 16 or 8 bytes of stored numbers. With PACK of them, eight in half, the floats of two
   neighbouring threads would lie 32 bytes apart, and each access of a warp would move half of the
   sectors that it touches. The rest at the end, fewer than four, is taken one by one. */

enum { THREADS = 256, FOUR = 4 };

#if defined REAL_F16 || defined REAL_BF16
typedef uint2 FourBits;
#else
typedef uint4 FourBits;
#endif

/* Four stored numbers, moved at once. */
union Reals {
    FourBits bits;
    Real real[FOUR];
};

/* Four floats, moved at once. */
union Floats {
    uint4 bits;
    float value[FOUR];
};

/* real() rounds a float to the storage type, to_float() is exact: kernels/real.cuh has both.

       static __global__ void cast_from_float_kernel(Real *out, const float *in, size_t n);
 */

static __global__ void cast_to_float_kernel(float *out, const Real *in, size_t n) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * FOUR;
    if (first + FOUR <= n) {
        Reals from;
        Floats to;
        from.bits = *(const FourBits *)(in + first);
        for (int i = 0; i < FOUR; i++) {
            to.value[i] = to_float(from.real[i]);
        }
        *(uint4 *)(out + first) = to.bits;
    } else {
        for (size_t i = first; i < n; i++) {
            out[i] = to_float(in[i]);
        }
    }
}

extern "C" void GPU(cast_from_float)(Real *out, const float *in, size_t n) {
    if (n == 0) {
        return;
    }
    (void)out, (void)in;
    TODO("task 1: the kernel that rounds floats to the storage type (about 16 lines)");
}

/* This direction is given: the other one is like it. */
extern "C" void GPU(cast_to_float)(float *out, const Real *in, size_t n) {
    if (n > 0) {
        cast_to_float_kernel<<<blocks_for(n, THREADS * FOUR), THREADS>>>(out, in, n);
        LAUNCHED("cast_to_float");
    }
}
