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
#define __grid_constant__
#define __launch_bounds__(...)
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

/* ---- launches -------------------------------------------------------------------------------- */

/** @cond */
template <class T>
CUDASIM_DEVICE bool cudasim_may_pass(const cudasim_launch_site &site, int number, const T &value) {
    if constexpr (std::is_pointer<T>::value && !std::is_function<std::remove_pointer_t<T>>::value) {
        return cudasim_pointer_argument(&site, number, (const volatile void *)value) != 0;
    }
    return (void)site, (void)number, (void)value, true;
}

/* A parameter as the launch keeps it. CUDA copies a kernel's parameters once, as bytes: a class
   with a destructor is copied and destroyed by the host alone. */
template <class T>
inline constexpr bool cudasim_is_plain =
    std::is_trivially_copy_constructible<T>::value &&std::is_trivially_destructible<T>::value;
template <class T> struct cudasim_bytes { alignas(T) unsigned char bytes[sizeof(T)]; };
template <class T>
using cudasim_kept = std::conditional_t<cudasim_is_plain<T>, T, cudasim_bytes<std::remove_cv_t<T>>>;
/* Such a class is passed by the address of a copy: the caller's business, and so is its end. */
template <class T> using cudasim_passed = std::conditional_t<cudasim_is_plain<T>, T, T &>;

/* k<<<...>>>(args) becomes this: operator() has exactly the kernel's parameters, so numbers and
   NULL convert as in CUDA. The arguments are copied, since the kernel runs when its stream does. */
template <class... P> struct cudasim_call {
    static_assert((!std::is_reference<P>::value && ...),
                  "cudasim: a kernel's parameters are copies: no references");
    cudasim_launch_site site;
    void (*kernel)(P...);

    struct arguments {
        void (*kernel)(P...);
        std::tuple<cudasim_kept<P>...> values;
    };
    template <class T> CUDASIM_UNCHECKED static cudasim_kept<T> keep(const T &value) {
        if constexpr (cudasim_is_plain<T>) {
            return value;
        } else {
            cudasim_kept<T> copy;
            __builtin_memcpy(copy.bytes, (const void *)&value, sizeof value);
            return copy;
        }
    }
    template <class T> CUDASIM_UNCHECKED static cudasim_passed<T> pass(cudasim_kept<T> &value) {
        if constexpr (cudasim_is_plain<T>) {
            return value;
        } else {
            return *(T *)value.bytes;
        }
    }
    template <size_t... I>
    CUDASIM_UNCHECKED static void call(arguments *a, std::index_sequence<I...>) {
        if constexpr ((cudasim_is_plain<P> && ...)) {
            a->kernel(std::get<I>(a->values)...);
        } else {
            std::tuple<cudasim_kept<P>...> own = a->values; /* each thread may change its own */
            ((void (*)(cudasim_passed<P>...))(void *)a->kernel)(pass<P>(std::get<I>(own))...);
        }
    }
    CUDASIM_UNCHECKED static void thread(void *a) {
        call((arguments *)a, std::index_sequence_for<P...>{});
    }
    CUDASIM_UNCHECKED static void release(void *a) {
        delete (arguments *)a;
    }
    CUDASIM_UNCHECKED void operator()(P... values) const {
        int number = 0;
        bool good = true;
        ((good = cudasim_may_pass(site, ++number, values) && good), ...);
        (void)number;
        if (good) {
            cudasim_submit_launch(&site, thread, new arguments{kernel, {keep<P>(values)...}},
                                  release);
        }
    }
};
template <class... P>
inline cudasim_call<P...> cudasim_launch(const char *file, int line, const char *name,
                                         void (*kernel)(P...), dim3 grid, dim3 block,
                                         size_t shared = 0, cudaStream_t stream = 0) {
    return {{file, line, name, (const void *)kernel, grid, block, shared, stream, false}, kernel};
}

/* Where the name before <<< stands for a template or for several functions, the arguments decide:
   `call` is a lambda that calls it with any. */
template <class F> struct cudasim_deduced_call {
    cudasim_launch_site site;
    F call;

    template <class... A> struct arguments {
        F call;
        std::tuple<A...> values;
    };
    template <class... A, size_t... I>
    CUDASIM_UNCHECKED static void call_with(const arguments<A...> *given,
                                            std::index_sequence<I...>) {
        given->call(std::get<I>(given->values)...);
    }
    template <class... A> CUDASIM_UNCHECKED static void thread(void *a) {
        const arguments<A...> *given = (const arguments<A...> *)a;
        call_with(given, std::index_sequence_for<A...>{});
    }
    template <class... A> CUDASIM_UNCHECKED static void release(void *a) {
        delete (arguments<A...> *)a;
    }
    template <class... A> CUDASIM_UNCHECKED void operator()(A... values) const {
        static_assert(std::is_invocable<F, A...>::value,
                      "cudasim: the kernel cannot be called with these arguments");
        int number = 0;
        bool good = true;
        ((good = cudasim_may_pass(site, ++number, values) && good), ...);
        (void)number;
        if (good) {
            cudasim_submit_launch(&site, thread<A...>,
                                  new arguments<A...>{call, std::tuple<A...>(values...)},
                                  release<A...>);
        }
    }
};
struct cudasim_one_kernel {
    template <class... P> auto operator()(void (*kernel)(P...)) const {
        return kernel;
    }
};
template <class F, class G>
inline auto cudasim_launch_named(const char *file, int line, const char *name, F find, G call,
                                 dim3 grid, dim3 block, size_t shared = 0,
                                 cudaStream_t stream = 0) {
    if constexpr (std::is_invocable<F, cudasim_one_kernel>::value) {
        (void)call;
        return cudasim_launch(file, line, name, find(cudasim_one_kernel()), grid, block, shared,
                              stream);
    } else {
        (void)find;
        return cudasim_deduced_call<G>{{file, line, name, NULL, grid, block, shared, stream, false},
                                       call};
    }
}
/** @endcond */

/* ---- barriers -------------------------------------------------------------------------------- */

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
CUDASIM_DEVICE T cudasim_shuffle(int operation, unsigned mask, T mine, int from, int width,
                                 const char *file, int line) {
    static_assert(sizeof(T) <= 8, "a shuffle moves values of at most 8 bytes");
    if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
        cudasim_undefined_width(operation, width, file, line);
    }
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
    return cudasim_shuffle(CUDASIM_SHFL, mask, value, source, width, file, line);
}

/** The value of the lane whose number differs in the bits of `bits`. */
template <class T>
CUDASIM_DEVICE T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, CUDASIM_CALLER) {
    int source = cudasim_lane ^ bits;
    bool beyond = (source & ~(width - 1)) > (cudasim_lane & ~(width - 1));
    return cudasim_shuffle(CUDASIM_SHFL_XOR, mask, value, beyond ? cudasim_lane : source, width,
                           file, line);
}

/** The value of the lane `distance` further; one's own where the group ends. */
template <class T>
CUDASIM_DEVICE T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32,
                                  CUDASIM_CALLER) {
    bool beyond = (cudasim_lane & (width - 1)) + (int)distance >= width;
    int source = beyond ? cudasim_lane : cudasim_lane + (int)distance;
    return cudasim_shuffle(CUDASIM_SHFL_DOWN, mask, value, source, width, file, line);
}

/** The value of the lane `distance` before; one's own where the group begins. */
template <class T>
CUDASIM_DEVICE T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32,
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

/** The lanes that are here together: all that come before no thread of the block can go on. */
CUDASIM_DEVICE unsigned __activemask(CUDASIM_CALLER) {
    return cudasim_active_lanes(file, line);
}

/** The lanes of the mask that have the same value. */
template <class T>
CUDASIM_DEVICE unsigned __match_any_sync(unsigned mask, T value, CUDASIM_CALLER) {
    static_assert(sizeof(T) <= 8, "a match compares values of at most 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    cudasim_meeting *meeting = cudasim_meet(CUDASIM_MATCH, mask, bits, file, line);
    unsigned same = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (cudasim_arrived(meeting) >> lane & 1 && cudasim_value(meeting, lane) == bits) {
            same |= 1u << lane;
        }
    }
    cudasim_part(meeting);
    return same;
}

/** The mask if all its lanes have the same value, else 0. */
template <class T>
CUDASIM_DEVICE unsigned __match_all_sync(unsigned mask, T value, int *same, CUDASIM_CALLER) {
    unsigned lanes = __match_any_sync(mask, value, file, line);
    unsigned all = __ballot_sync(mask, 1, file, line);
    *same = lanes == all;
    return *same ? all : 0;
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

#include "cudasim_atomic.h"
#include "cudasim_math.h"

/* ---- memory ---------------------------------------------------------------------------------- */

/** @cond */
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

#include "cudasim_host.h"

#endif
