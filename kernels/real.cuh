/**
 * @file real.cuh
 * @brief What `Real` is in a CUDA source, and how 16 bytes of them are moved at once.
 * @ingroup kernels
 *
 * The device's counterpart of kernels/real.h: each `op.cu` is compiled three times, with REAL_F32,
 * REAL_F16 or REAL_BF16 defined, and defines GPU(name) for each op of its header.
 *
 * A source has three parts: how threads map to data; the kernel; the launcher. Everything is
 * launched into the default stream, in the order of the calls. A profiler shows a kernel's name
 * and nothing else, so it begins with the op's: gelu_forward_kernel, flash_backward_keys_kernel.
 */
#ifndef KERNELS_REAL_CUH
#define KERNELS_REAL_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/base.h"

/** Ends the program if a launch was refused. Stands after each one. */
#define LAUNCHED(kernel)                                                                           \
    do {                                                                                           \
        cudaError_t error_ = cudaGetLastError();                                                   \
        CHECK(error_ == cudaSuccess, "%s: %s", kernel, cudaGetErrorString(error_));                \
    } while (0)

#if defined REAL_F16

struct Real {
    unsigned short bits;
};
#define REAL_SUFFIX f16

static __device__ inline float to_float(Real x) {
    return __half2float(__ushort_as_half(x.bits));
}
static __device__ inline Real real(float x) {
    Real result = {__half_as_ushort(__float2half_rn(x))};
    return result;
}

#elif defined REAL_BF16

struct Real {
    unsigned short bits;
};
#define REAL_SUFFIX bf16

static __device__ inline float to_float(Real x) {
    return __bfloat162float(__ushort_as_bfloat16(x.bits));
}
static __device__ inline Real real(float x) {
    Real result = {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
    return result;
}

#else

/** In f32 the number itself; in f16 and bf16 its 16 bits. */
struct Real {
    float value; /**< the number itself */
};
/** @cond */
#define REAL_SUFFIX f32
/** @endcond */

/** The value of a stored number. */
static __device__ inline float to_float(Real x) {
    return x.value;
}
/** A float, rounded to the storage type. */
static __device__ inline Real real(float x) {
    Real result = {x};
    return result;
}

#endif

/** Numbers that one 16-byte access moves: 4 in f32, 8 in half. */
enum { PACK = 16 / sizeof(Real) };

/** PACK numbers in 16 bytes: what a thread reads or writes at once. */
union Pack {
    uint4 bits;      /**< as one word of 16 bytes */
    Real real[PACK]; /**< as numbers */
};

/**
 * Reads PACK numbers at once, or what is left of them one by one; the others become 0.
 *
 * @param[out] x    (PACK)
 * @param[in]  from an address that is a multiple of 16 bytes
 * @param      left numbers from `from` to the end of the tensor
 */
static __device__ inline void load_pack(float x[PACK], const Real *from, size_t left) {
    if (left >= PACK) {
        Pack pack;
        pack.bits = *(const uint4 *)from;
        for (int i = 0; i < PACK; i++) {
            x[i] = to_float(pack.real[i]);
        }
    } else {
        for (int i = 0; i < PACK; i++) {
            x[i] = (size_t)i < left ? to_float(from[i]) : 0;
        }
    }
}

/** Writes PACK numbers at once, or what is left of them one by one: load_pack()'s other half. */
static __device__ inline void store_pack(Real *to, const float x[PACK], size_t left) {
    if (left >= PACK) {
        Pack pack;
        for (int i = 0; i < PACK; i++) {
            pack.real[i] = real(x[i]);
        }
        *(uint4 *)to = pack.bits;
    } else {
        for (int i = 0; i < PACK; i++) {
            if ((size_t)i < left) {
                to[i] = real(x[i]);
            }
        }
    }
}

/** Blocks of `threads` threads that cover n items, one each. */
static inline unsigned blocks_for(size_t n, int threads) {
    return (unsigned)((n + threads - 1) / threads);
}

/** Sum over the 32 lanes of a warp, on every lane; all lanes must call. The order is fixed. */
static __device__ inline float warp_sum(float x) {
    for (int distance = 16; distance > 0; distance /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, distance);
    }
    return x;
}

/** The same for doubles. */
static __device__ inline double warp_sum_double(double x) {
    for (int distance = 16; distance > 0; distance /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, distance);
    }
    return x;
}

/** Maximum over the 32 lanes of a warp, on every lane; all lanes must call. */
static __device__ inline float warp_max(float x) {
    for (int distance = 16; distance > 0; distance /= 2) {
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, distance));
    }
    return x;
}

/** @cond */
#define REAL_JOIN(name, suffix) name##_gpu_##suffix
#define REAL_NAME(name, suffix) REAL_JOIN(name, suffix)
/** @endcond */

/**
 * The name of an op's GPU function in this precision: GPU(gelu_forward) is gelu_forward_gpu_f32.
 */
#define GPU(name) REAL_NAME(name, REAL_SUFFIX)

#endif
