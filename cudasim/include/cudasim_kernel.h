/**
 * @file cudasim_kernel.h
 * @brief The device side of the simulator: what a kernel may use, in C++17.
 * @ingroup cudasim
 *
 * Included by cuda_runtime.h. A CUDA thread is a function call on a stack of its own; it waits by
 * calling into block.c and warp.c. Nothing in here is instrumented in check mode
 * (CUDASIM_UNCHECKED): checked is what the student wrote.
 */
#ifndef CUDASIM_KERNEL_H
#define CUDASIM_KERNEL_H

#include "cudasim_core.h"

/** @cond */
CUDASIM_SIDES_BEGIN
#ifdef CUDASIM_LINT
#define CUDASIM_UNCHECKED
#else
#ifdef __CUDACC__ /* cu2cpp looks at these */
#define __global__ cudasim_global
#define __device__ cudasim_device
#define __host__ cudasim_host
#define __launch_bounds__(...) cudasim_launch_bounds(__VA_ARGS__)
#else
#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __launch_bounds__(...)
#endif
#define __grid_constant__
#ifndef __clang__ /* which has it */
#define __builtin_assume(condition) ((void)sizeof((condition) ? 1 : 0))
#endif
#define CUDASIM_UNCHECKED __attribute__((no_sanitize("thread", "undefined")))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#ifdef __SANITIZE_THREAD__
/* gcc would not call such a function through a pointer. */
#undef __forceinline__
#define __forceinline__ inline
#endif
#define CUDASIM_CALLER const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define CUDASIM_DEVICE CUDASIM_UNCHECKED __attribute__((unused)) static inline
/** @endcond */

/* ---- who am I -------------------------------------------------------------------------------- */

/** @cond */
#ifdef CUDASIM_LINT
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern __device__ int cudasim_lane;
#endif
/** @endcond */
static const int warpSize = 32; /**< threads of a warp */

#include "cudasim_launch.h"

/* ---- barriers -------------------------------------------------------------------------------- */

/** @cond */
#define __syncthreads() cudasim_syncthreads(__FILE__, __LINE__)
#define __syncthreads_count(p) cudasim_syncthreads_reduce(0, (p), __FILE__, __LINE__)
#define __syncthreads_and(p) cudasim_syncthreads_reduce(1, (p), __FILE__, __LINE__)
#define __syncthreads_or(p) cudasim_syncthreads_reduce(2, (p), __FILE__, __LINE__)
#define __threadfence() cudasim_fence(0)
#define __threadfence_block() cudasim_fence(1)
#define __threadfence_system() cudasim_fence(0)
#define __prof_trigger(counter) ((void)(counter))
#define __trap() cudasim_trap(__FILE__, __LINE__)
/* Each kernel begins with this. Its address has no name that a template could say, but here is a
   place in it. Records keep kernels alive, so programs of the kit, which take of a file the
   functions that they use, have none. */
template <unsigned most>
__attribute__((always_inline, unused)) static inline void
cudasim_kernel_begins(const char *kernel = __builtin_FUNCTION()) {
#ifdef CUDASIM_WHOLE_PROGRAM
    cudasim_asm volatile("1: .pushsection cudasim_bounds, \"aw?\"\n\t"
                         ".balign 8\n\t.quad 1b\n\t.quad %c0\n\t.popsection"
                         :
                         : "i"((unsigned long)most));
    if (blockDim.x == 0) { /* no launch runs */
        cudasim_called_plainly(kernel, __builtin_return_address(0));
    }
#endif
    (void)kernel;
}
/* After that, a kernel with __launch_bounds__(): a launch may not know which kernel it calls. */
CUDASIM_DEVICE void cudasim_bounds(unsigned most) {
    if (blockDim.x * blockDim.y * blockDim.z > most) {
        cudasim_beyond_bounds(most);
    }
}
/* A lane has seen what it wanted; the last one frees the place. */
CUDASIM_DEVICE void cudasim_part(cudasim_meeting *meeting) {
    if (--meeting->inside == 0) {
        meeting->mask = 0;
    }
}
/** @endcond */

/** Waits for the lanes that the mask names. */
CUDASIM_DEVICE void __syncwarp(unsigned mask = 0xffffffffu, CUDASIM_CALLER) {
    cudasim_part(cudasim_meet(CUDASIM_SYNCWARP, mask, 0, file, line));
}

/** @cond */
/* A lane that others read nothing from may bring a variable that it never set. */
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
template <class Type>
CUDASIM_DEVICE Type cudasim_shuffle(int operation, unsigned mask, Type mine, int from, int width,
                                    const char *file, int line) {
    static_assert(sizeof(Type) <= 8, "a shuffle moves values of at most 8 bytes");
    if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
        cudasim_undefined_width(operation, width, file, line);
    }
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &mine, sizeof mine);
    cudasim_meeting *meeting = cudasim_meet(operation, mask, bits, file, line);
    if (from != cudasim_lane) {
        if (meeting->arrived >> from & 1) {
            bits = meeting->value[from];
        } else {
            cudasim_undefined_lane(meeting, from, file, line);
        }
    }
    cudasim_part(meeting);
    Type result;
    __builtin_memcpy((void *)&result, &bits, sizeof result);
    return result;
}
#ifndef __clang__
#pragma GCC diagnostic pop
#endif
/** @endcond */

/** The value of lane `from` of each group of `width` lanes. */
template <class Type>
CUDASIM_DEVICE Type __shfl_sync(unsigned mask, Type value, int from, int width = 32,
                                CUDASIM_CALLER) {
    int source = (cudasim_lane & ~(width - 1)) + (from & (width - 1));
    return cudasim_shuffle(CUDASIM_SHFL, mask, value, source, width, file, line);
}

/** The value of the lane whose number differs in the bits of `bits`. */
template <class Type>
CUDASIM_DEVICE Type __shfl_xor_sync(unsigned mask, Type value, int bits, int width = 32,
                                    CUDASIM_CALLER) {
    int source = cudasim_lane ^ bits;
    bool beyond = (source & ~(width - 1)) > (cudasim_lane & ~(width - 1));
    return cudasim_shuffle(CUDASIM_SHFL_XOR, mask, value, beyond ? cudasim_lane : source, width,
                           file, line);
}

/** The value of the lane `distance` further; one's own where the group ends. */
template <class Type>
CUDASIM_DEVICE Type __shfl_down_sync(unsigned mask, Type value, unsigned distance, int width = 32,
                                     CUDASIM_CALLER) {
    bool beyond = (cudasim_lane & (width - 1)) + (int)distance >= width;
    int source = beyond ? cudasim_lane : cudasim_lane + (int)distance;
    return cudasim_shuffle(CUDASIM_SHFL_DOWN, mask, value, source, width, file, line);
}

/** The value of the lane `distance` before; one's own where the group begins. */
template <class Type>
CUDASIM_DEVICE Type __shfl_up_sync(unsigned mask, Type value, unsigned distance, int width = 32,
                                   CUDASIM_CALLER) {
    bool beyond = (cudasim_lane & (width - 1)) < (int)distance;
    int source = beyond ? cudasim_lane : cudasim_lane - (int)distance;
    return cudasim_shuffle(CUDASIM_SHFL_UP, mask, value, source, width, file, line);
}

/** A bit for each lane of the mask whose predicate is not 0. */
CUDASIM_DEVICE unsigned __ballot_sync(unsigned mask, int predicate, CUDASIM_CALLER) {
    cudasim_meeting *meeting = cudasim_meet(CUDASIM_BALLOT, mask, predicate != 0, file, line);
    unsigned result = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (meeting->arrived >> lane & 1 && meeting->value[lane]) {
            result |= 1u << lane;
        }
    }
    cudasim_part(meeting);
    return result;
}

/** Whether any lane's predicate is not 0. */
CUDASIM_DEVICE int __any_sync(unsigned mask, int predicate, CUDASIM_CALLER) {
    return __ballot_sync(mask, predicate, file, line) != 0;
}

/** Whether every lane's predicate is not 0. */
CUDASIM_DEVICE int __all_sync(unsigned mask, int predicate, CUDASIM_CALLER) {
    return __ballot_sync(mask, !predicate, file, line) == 0;
}

/** The lanes that are here together: all that come before no thread of the block can go on. */
CUDASIM_DEVICE unsigned __activemask(CUDASIM_CALLER) {
    return cudasim_active_lanes(file, line);
}

/** The lanes of the mask that have the same value. */
template <class Type>
CUDASIM_DEVICE unsigned __match_any_sync(unsigned mask, Type value, CUDASIM_CALLER) {
    static_assert(sizeof(Type) <= 8, "a match compares values of at most 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    cudasim_meeting *meeting = cudasim_meet(CUDASIM_MATCH, mask, bits, file, line);
    unsigned same = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (meeting->arrived >> lane & 1 && meeting->value[lane] == bits) {
            same |= 1u << lane;
        }
    }
    cudasim_part(meeting);
    return same;
}

/** The mask if all its lanes have the same value, else 0. */
template <class Type>
CUDASIM_DEVICE unsigned __match_all_sync(unsigned mask, Type value, int *same, CUDASIM_CALLER) {
    unsigned lanes = __match_any_sync(mask, value, file, line);
    unsigned all = __ballot_sync(mask, 1, file, line);
    *same = lanes == all;
    return *same ? all : 0;
}

/** @cond */
#define CUDASIM_WARP_REDUCE(name, Type, expression)                                                \
    CUDASIM_DEVICE Type name(unsigned mask, Type value, CUDASIM_CALLER) {                          \
        cudasim_meeting *meeting =                                                                 \
            cudasim_meet(CUDASIM_REDUCE, mask, (unsigned)value, file, line);                       \
        Type a = value;                                                                            \
        for (int lane = 0; lane < 32; lane++) {                                                    \
            if (lane != cudasim_lane && meeting->arrived >> lane & 1) {                            \
                Type b = (Type)meeting->value[lane];                                               \
                a = expression;                                                                    \
            }                                                                                      \
        }                                                                                          \
        cudasim_part(meeting);                                                                     \
        return a;                                                                                  \
    }
CUDASIM_WARP_REDUCE(__reduce_add_sync, unsigned, a + b)
CUDASIM_WARP_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
CUDASIM_WARP_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
CUDASIM_WARP_REDUCE(__reduce_and_sync, unsigned, a &b)
CUDASIM_WARP_REDUCE(__reduce_or_sync, unsigned, a | b)
CUDASIM_WARP_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
CUDASIM_WARP_REDUCE(__reduce_add_sync, int, a + b)
CUDASIM_WARP_REDUCE(__reduce_min_sync, int, a < b ? a : b)
CUDASIM_WARP_REDUCE(__reduce_max_sync, int, a > b ? a : b)
/** @endcond */

#include "cudasim_atomic.h"
#include "cudasim_math.h"
#include "cudasim_ptx.h"

#include "cudasim_integer.h"
#include "cudasim_rounded.h"
#include "cudasim_special.h"
#include "cudasim_word.h"

/* ---- memory ---------------------------------------------------------------------------------- */

/** @cond */
/* Loads and stores that only hint at caches must stay checked accesses. */
#define CUDASIM_HINTED __attribute__((always_inline, unused)) static inline
template <class Type> CUDASIM_HINTED Type __ldg(const Type *p) {
    return *p;
}
template <class Type> CUDASIM_HINTED Type __ldcs(const Type *p) {
    return *p;
}
template <class Type> CUDASIM_HINTED Type __ldcg(const Type *p) {
    return *p;
}
template <class Type> CUDASIM_HINTED Type __ldlu(const Type *p) {
    return *p;
}
template <class Type> CUDASIM_HINTED Type __ldcv(const Type *p) {
    return *p;
}
template <class Type> CUDASIM_HINTED Type __ldca(const Type *p) {
    return *p;
}
template <class Type> CUDASIM_HINTED void __stcs(Type *p, Type value) {
    *p = value;
}
template <class Type> CUDASIM_HINTED void __stcg(Type *p, Type value) {
    *p = value;
}
template <class Type> CUDASIM_HINTED void __stwt(Type *p, Type value) {
    *p = value;
}
template <class Type> CUDASIM_HINTED void __stwb(Type *p, Type value) {
    *p = value;
}

CUDASIM_SIDES_END
/** @endcond */

#include "cudasim_host.h"

#endif
