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

#include <tuple>
#include <type_traits>
#include <utility>

#include "cudasim_core.h"

/** @cond */
#ifdef CUDASIM_LINT
#define CUDASIM_UNCHECKED
#pragma clang force_cuda_host_device begin
#else
#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define CUDASIM_UNCHECKED __attribute__((no_sanitize("thread", "undefined")))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define CUDASIM_CALLER const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define CUDASIM_DEVICE CUDASIM_UNCHECKED __attribute__((unused)) static inline
/** @endcond */

/* ---- who am I ----------------------------------------------------------------------------------
 */

/** @cond */
#ifdef CUDASIM_LINT
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern __device__ int cudasim_lane;
#endif
/** @endcond */
static const int warpSize = 32; /**< threads of a warp */

/* ---- launches ----------------------------------------------------------------------------------
 */

/** @cond */
/* What k<<<...>>>(args) becomes: operator() has exactly the kernel's parameters, so numbers and
   NULL convert as in CUDA. The arguments are copied, since the kernel runs when its stream does. */
template <class... P> struct cudasim_call {
    cudasim_launch_site site;
    void (*kernel)(P...);

    struct arguments {
        void (*kernel)(P...);
        std::tuple<P...> values;
    };
    template <size_t... I>
    CUDASIM_UNCHECKED static void call(arguments *a, std::index_sequence<I...>) {
        a->kernel(std::get<I>(a->values)...);
    }
    CUDASIM_UNCHECKED static void thread(void *a) {
        call((arguments *)a, std::index_sequence_for<P...>{});
    }
    CUDASIM_UNCHECKED static void release(void *a) {
        delete (arguments *)a;
    }
    template <class T> CUDASIM_UNCHECKED int check(int number, const T &value) const {
        if constexpr (std::is_pointer<T>::value &&
                      !std::is_function<std::remove_pointer_t<T>>::value) {
            return cudasim_pointer_argument(&site, number, (const volatile void *)value);
        }
        return (void)number, (void)value, 1;
    }
    CUDASIM_UNCHECKED void operator()(P... values) const {
        int number = 0;
        bool good = true;
        ((good = check(++number, values) && good), ...);
        (void)number;
        if (good) {
            cudasim_submit_launch(&site, thread, new arguments{kernel, {values...}}, release);
        }
    }
};
template <class... P>
inline cudasim_call<P...> cudasim_launch(const char *file, int line, const char *name,
                                         void (*kernel)(P...), dim3 grid, dim3 block,
                                         size_t shared = 0, cudaStream_t stream = 0) {
    return {{file, line, name, (const void *)kernel, grid, block, shared, stream}, kernel};
}
/** @endcond */

/* ---- barriers ----------------------------------------------------------------------------------
 */

/** @cond */
#define __syncthreads() cudasim_syncthreads(__FILE__, __LINE__)
#define __syncthreads_count(p) cudasim_syncthreads_reduce(0, (p), __FILE__, __LINE__)
#define __syncthreads_and(p) cudasim_syncthreads_reduce(1, (p), __FILE__, __LINE__)
#define __syncthreads_or(p) cudasim_syncthreads_reduce(2, (p), __FILE__, __LINE__)
#define __threadfence() cudasim_fence()
#define __threadfence_block() cudasim_fence()
#define __threadfence_system() cudasim_fence()
#define __trap() cudasim_trap(__FILE__, __LINE__)

enum cudasim_warp_operation {
    CUDASIM_SYNCWARP,
    CUDASIM_SHFL,
    CUDASIM_SHFL_XOR,
    CUDASIM_SHFL_DOWN,
    CUDASIM_SHFL_UP,
    CUDASIM_BALLOT,
    CUDASIM_REDUCE,
    CUDASIM_MATCH
};
/** @endcond */

/** Waits for the lanes that the mask names. */
CUDASIM_DEVICE void __syncwarp(unsigned mask = 0xffffffffu, CUDASIM_CALLER) {
    cudasim_part(cudasim_meet(CUDASIM_SYNCWARP, mask, 0, file, line));
}

/** @cond */
template <class T>
CUDASIM_DEVICE T cudasim_shuffle(int operation, unsigned mask, T mine, int from, const char *file,
                                 int line) {
    static_assert(sizeof(T) <= 8, "a shuffle moves values of at most 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &mine, sizeof mine);
    cudasim_meeting *meeting = cudasim_meet(operation, mask, bits, file, line);
    if (from != cudasim_lane) {
        if (cudasim_arrived(meeting) >> from & 1) {
            bits = cudasim_value(meeting, from);
        } else {
            cudasim_undefined_lane(meeting, from, file, line);
        }
    }
    cudasim_part(meeting);
    T result;
    __builtin_memcpy((void *)&result, &bits, sizeof result);
    return result;
}
/** @endcond */

/** The value of lane `from` of each group of `width` lanes. */
template <class T>
CUDASIM_DEVICE T __shfl_sync(unsigned mask, T value, int from, int width = 32, CUDASIM_CALLER) {
    int source = (cudasim_lane & ~(width - 1)) + (from & (width - 1));
    return cudasim_shuffle(CUDASIM_SHFL, mask, value, source, file, line);
}

/** The value of the lane whose number differs in the bits of `bits`. */
template <class T>
CUDASIM_DEVICE T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, CUDASIM_CALLER) {
    int source = cudasim_lane ^ bits;
    bool beyond = (source & ~(width - 1)) > (cudasim_lane & ~(width - 1));
    return cudasim_shuffle(CUDASIM_SHFL_XOR, mask, value, beyond ? cudasim_lane : source, file,
                           line);
}

/** The value of the lane `distance` further; one's own where the group ends. */
template <class T>
CUDASIM_DEVICE T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32,
                                  CUDASIM_CALLER) {
    bool beyond = (cudasim_lane & (width - 1)) + (int)distance >= width;
    int source = beyond ? cudasim_lane : cudasim_lane + (int)distance;
    return cudasim_shuffle(CUDASIM_SHFL_DOWN, mask, value, source, file, line);
}

/** The value of the lane `distance` before; one's own where the group begins. */
template <class T>
CUDASIM_DEVICE T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32,
                                CUDASIM_CALLER) {
    bool beyond = (cudasim_lane & (width - 1)) < (int)distance;
    int source = beyond ? cudasim_lane : cudasim_lane - (int)distance;
    return cudasim_shuffle(CUDASIM_SHFL_UP, mask, value, source, file, line);
}

/** A bit for each lane of the mask whose predicate is not 0. */
CUDASIM_DEVICE unsigned __ballot_sync(unsigned mask, int predicate, CUDASIM_CALLER) {
    cudasim_meeting *meeting = cudasim_meet(CUDASIM_BALLOT, mask, predicate != 0, file, line);
    unsigned result = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (cudasim_arrived(meeting) >> lane & 1 && cudasim_value(meeting, lane)) {
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

/** The lanes that happen to be together: here always just this one, which CUDA allows. */
CUDASIM_DEVICE unsigned __activemask() {
    return 1u << cudasim_lane;
}

/** @cond */
#define CUDASIM_WARP_REDUCE(name, T, expression)                                                   \
    CUDASIM_DEVICE T name(unsigned mask, T value, CUDASIM_CALLER) {                                \
        cudasim_meeting *meeting =                                                                 \
            cudasim_meet(CUDASIM_REDUCE, mask, (unsigned)value, file, line);                       \
        T a = value;                                                                               \
        for (int lane = 0; lane < 32; lane++) {                                                    \
            if (lane != cudasim_lane && cudasim_arrived(meeting) >> lane & 1) {                    \
                T b = (T)cudasim_value(meeting, lane);                                             \
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
CUDASIM_WARP_REDUCE(__reduce_add_sync, int, a + b)
CUDASIM_WARP_REDUCE(__reduce_min_sync, int, a < b ? a : b)
CUDASIM_WARP_REDUCE(__reduce_max_sync, int, a > b ? a : b)
/** @endcond */

/* ---- atomics -----------------------------------------------------------------------------------
 */

/** @cond */
/* A compare-and-swap loop, since blocks may run on several threads of the CPU. */
template <class T, class F>
CUDASIM_DEVICE T cudasim_rmw(T *p, F update, const char *file, int line) {
    typedef std::conditional_t<sizeof(T) == 8, unsigned long long,
                               std::conditional_t<sizeof(T) == 4, unsigned, unsigned short>>
        Word;
    static_assert(sizeof(T) == sizeof(Word), "atomics work on 2, 4 or 8 bytes");
    cudasim_before_atomic(p, sizeof(T), file, line);
    Word *word = (Word *)(void *)p;
    Word old = __atomic_load_n(word, __ATOMIC_RELAXED), wanted;
    T before, after;
    do {
        __builtin_memcpy(&before, &old, sizeof before);
        after = update(before);
        __builtin_memcpy(&wanted, &after, sizeof wanted);
    } while (!__atomic_compare_exchange_n(word, &old, wanted, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return before;
}
#define CUDASIM_ATOMIC(name, T, expression)                                                        \
    CUDASIM_DEVICE T name(T *p, T value, CUDASIM_CALLER) {                                         \
        return cudasim_rmw(                                                                        \
            p,                                                                                     \
            [value](T old) CUDASIM_UNCHECKED {                                                     \
                (void)old;                                                                         \
                return (T)(expression);                                                            \
            },                                                                                     \
            file, line);                                                                           \
    }                                                                                              \
    CUDASIM_DEVICE T name##_block(T *p, T value, CUDASIM_CALLER) {                                 \
        return name(p, value, file, line);                                                         \
    }                                                                                              \
    CUDASIM_DEVICE T name##_system(T *p, T value, CUDASIM_CALLER) {                                \
        return name(p, value, file, line);                                                         \
    }
#define CUDASIM_INTEGER_ATOMICS(T)                                                                 \
    CUDASIM_ATOMIC(atomicAdd, T, old + value)                                                      \
    CUDASIM_ATOMIC(atomicExch, T, value)                                                           \
    CUDASIM_ATOMIC(atomicMax, T, old > value ? old : value)                                        \
    CUDASIM_ATOMIC(atomicMin, T, old < value ? old : value)                                        \
    CUDASIM_ATOMIC(atomicAnd, T, old &value)                                                       \
    CUDASIM_ATOMIC(atomicOr, T, old | value)                                                       \
    CUDASIM_ATOMIC(atomicXor, T, old ^ value)                                                      \
    CUDASIM_DEVICE T atomicCAS(T *p, T compare, T value, CUDASIM_CALLER) {                         \
        return cudasim_rmw(                                                                        \
            p, [=](T old) CUDASIM_UNCHECKED { return old == compare ? value : old; }, file, line); \
    }
CUDASIM_INTEGER_ATOMICS(int)
CUDASIM_INTEGER_ATOMICS(unsigned)
CUDASIM_INTEGER_ATOMICS(unsigned long long)
CUDASIM_ATOMIC(atomicSub, int, old - value)
CUDASIM_ATOMIC(atomicSub, unsigned, old - value)
CUDASIM_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
CUDASIM_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
CUDASIM_ATOMIC(atomicAdd, float, old + value)
CUDASIM_ATOMIC(atomicAdd, double, old + value)
CUDASIM_ATOMIC(atomicExch, float, value)
/** @endcond */

/* ---- arithmetic --------------------------------------------------------------------------------
 */

/** @cond */
CUDASIM_DEVICE int __popc(unsigned x) {
    return __builtin_popcount(x);
}
CUDASIM_DEVICE int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
CUDASIM_DEVICE int __clz(int x) {
    return x ? __builtin_clz((unsigned)x) : 32;
}
CUDASIM_DEVICE int __clzll(long long x) {
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
CUDASIM_DEVICE int __ffs(int x) {
    return __builtin_ffs(x);
}
CUDASIM_DEVICE unsigned __brev(unsigned x) {
    unsigned y = 0;
    for (int i = 0; i < 32; i++) {
        y |= (x >> i & 1) << (31 - i);
    }
    return y;
}
CUDASIM_DEVICE unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
CUDASIM_DEVICE int __mulhi(int a, int b) {
    return (int)((long long)a * b >> 32);
}
CUDASIM_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
template <class To, class From> CUDASIM_DEVICE To cudasim_bits(From x) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
CUDASIM_DEVICE float __int_as_float(int x) {
    return cudasim_bits<float>(x);
}
CUDASIM_DEVICE int __float_as_int(float x) {
    return cudasim_bits<int>(x);
}
CUDASIM_DEVICE float __uint_as_float(unsigned x) {
    return cudasim_bits<float>(x);
}
CUDASIM_DEVICE unsigned __float_as_uint(float x) {
    return cudasim_bits<unsigned>(x);
}
CUDASIM_DEVICE double __longlong_as_double(long long x) {
    return cudasim_bits<double>(x);
}
CUDASIM_DEVICE long long __double_as_longlong(double x) {
    return cudasim_bits<long long>(x);
}
CUDASIM_DEVICE float rsqrtf(float x) {
    return 1 / sqrtf(x);
}
CUDASIM_DEVICE double rsqrt(double x) {
    return 1 / sqrt(x);
}
CUDASIM_DEVICE float fdividef(float a, float b) {
    return a / b;
}
CUDASIM_DEVICE float __saturatef(float x) {
    return x > 0 ? (x < 1 ? x : 1) : 0;
}
CUDASIM_DEVICE int __float2int_rn(float x) {
    return (int)lrintf(x);
}
CUDASIM_DEVICE int __float2int_rd(float x) {
    return (int)floorf(x);
}
CUDASIM_DEVICE int __float2int_ru(float x) {
    return (int)ceilf(x);
}
CUDASIM_DEVICE int __float2int_rz(float x) {
    return (int)x;
}
CUDASIM_DEVICE float __int2float_rn(int x) {
    return (float)x;
}
CUDASIM_DEVICE float __uint2float_rn(unsigned x) {
    return (float)x;
}
CUDASIM_DEVICE float __double2float_rn(double x) {
    return (float)x;
}
CUDASIM_DEVICE void sincospif(float x, float *s, float *c) {
    *s = (float)sin(3.14159265358979323846 * (double)x);
    *c = (float)cos(3.14159265358979323846 * (double)x);
}
CUDASIM_DEVICE float normcdff(float x) {
    return (float)(0.5 * erfc(-0.70710678118654752440 * (double)x));
}
/* The fast intrinsics of a GPU are less exact than these. */
#define __expf(x) expf(x)
#define __exp10f(x) powf(10, (x))
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __powf(x, y) powf((x), (y))
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __fdividef(a, b) fdividef((a), (b))
#define __fsqrt_rn(x) sqrtf(x)
#define __frsqrt_rn(x) rsqrtf(x)
#define __frcp_rn(x) (1.0f / (x))
#define __fadd_rn(a, b) ((float)(a) + (float)(b))
#define __fsub_rn(a, b) ((float)(a) - (float)(b))
#define __fmul_rn(a, b) ((float)(a) * (float)(b))
#define __fdiv_rn(a, b) ((float)(a) / (float)(b))
#define __fmaf_rn(a, b, c) fmaf((a), (b), (c))
#define __mul24(a, b) ((a) * (b))

/* Loads and stores that only hint at caches must stay checked accesses. */
#define CUDASIM_HINTED __attribute__((always_inline, unused)) static inline
template <class T> CUDASIM_HINTED T __ldg(const T *p) {
    return *p;
}
template <class T> CUDASIM_HINTED T __ldcs(const T *p) {
    return *p;
}
template <class T> CUDASIM_HINTED T __ldcg(const T *p) {
    return *p;
}
template <class T> CUDASIM_HINTED T __ldca(const T *p) {
    return *p;
}
template <class T> CUDASIM_HINTED void __stcs(T *p, T value) {
    *p = value;
}
template <class T> CUDASIM_HINTED void __stcg(T *p, T value) {
    *p = value;
}
template <class T> CUDASIM_HINTED void __stwt(T *p, T value) {
    *p = value;
}

#define CUDASIM_MIN_MAX(T)                                                                         \
    CUDASIM_DEVICE T min(T a, T b) {                                                               \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    CUDASIM_DEVICE T max(T a, T b) {                                                               \
        return a > b ? a : b;                                                                      \
    }
CUDASIM_MIN_MAX(int)
CUDASIM_MIN_MAX(unsigned)
CUDASIM_MIN_MAX(long)
CUDASIM_MIN_MAX(unsigned long)
CUDASIM_MIN_MAX(long long)
CUDASIM_MIN_MAX(unsigned long long)
CUDASIM_DEVICE unsigned min(unsigned a, int b) {
    return min(a, (unsigned)b);
}
CUDASIM_DEVICE unsigned max(unsigned a, int b) {
    return max(a, (unsigned)b);
}
CUDASIM_DEVICE unsigned min(int a, unsigned b) {
    return min((unsigned)a, b);
}
CUDASIM_DEVICE unsigned max(int a, unsigned b) {
    return max((unsigned)a, b);
}
CUDASIM_DEVICE float min(float a, float b) {
    return fminf(a, b);
}
CUDASIM_DEVICE float max(float a, float b) {
    return fmaxf(a, b);
}
CUDASIM_DEVICE double min(double a, double b) {
    return fmin(a, b);
}
CUDASIM_DEVICE double max(double a, double b) {
    return fmax(a, b);
}

/* __device__ and __constant__ variables are plain ones here. */
#define cudaMemcpyToSymbol(symbol, from, bytes, ...)                                               \
    cudasim_to_symbol(CUDASIM_HERE, #symbol, symbol, from, bytes, ##__VA_ARGS__)
#define cudaMemcpyFromSymbol(to, symbol, bytes, ...)                                               \
    cudasim_from_symbol(CUDASIM_HERE, #symbol, symbol, to, bytes, ##__VA_ARGS__)
template <class T>
inline cudaError_t cudasim_to_symbol(CUDASIM_PLACE, const char *name, T &symbol, const void *from,
                                     size_t bytes, size_t offset = 0,
                                     cudaMemcpyKind = cudaMemcpyHostToDevice) {
    size_t room = offset < sizeof symbol ? sizeof symbol - offset : 0;
    return cudasim_memcpy_symbol(file, line, (char *)&symbol + offset, from, bytes, room, name);
}
template <class T>
inline cudaError_t cudasim_from_symbol(CUDASIM_PLACE, const char *name, const T &symbol, void *to,
                                       size_t bytes, size_t offset = 0,
                                       cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    size_t room = offset < sizeof symbol ? sizeof symbol - offset : 0;
    return cudasim_memcpy_symbol(file, line, to, (const char *)&symbol + offset, bytes, room, name);
}
#ifdef CUDASIM_LINT
#pragma clang force_cuda_host_device end
#endif
/** @endcond */

#endif
