/**
 * @file cudasim_launch.h
 * @brief What `kernel<<<...>>>(arguments)` becomes, in C++17. Included by cudasim_kernel.h.
 * @ingroup cudasim
 *
 * A kernel that is known by its name keeps the types of its parameters (cudasim_call). Which of
 * several of one name is meant, and of a template, the arguments decide (cudasim_deduced_call).
 */
#ifndef CUDASIM_LAUNCH_H
#define CUDASIM_LAUNCH_H

#include <tuple>
#include <type_traits>
#include <utility>

#include "cudasim_core.h"

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
                  "cudasim: unsupported: references among a kernel's parameters, which are "
                  "copies; pass a pointer");
    static_assert((sizeof(P) + ... + 0) <= 32764,
                  "cudasim: unsupported: more than 32764 bytes of parameters, as in CUDA; pass a "
                  "pointer");
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
        submit(values...);
    }
    CUDASIM_UNCHECKED cudaError_t submit(const P &...values) const {
        int number = 0;
        bool good = true;
        ((good = cudasim_may_pass(site, ++number, values) && good), ...);
        (void)number;
        return good ? cudasim_submit_launch(&site, thread,
                                            new arguments{kernel, {keep<P>(values)...}},
                                            sizeof(arguments), release)
                    : cudaErrorIllegalAddress;
    }

    /* The same with arguments by address: graphs, cudaLaunchKernel(). */
    template <size_t... I>
    CUDASIM_UNCHECKED static cudaError_t submit_at(const cudasim_launch_site *site, void **values,
                                                   std::index_sequence<I...>) {
        (void)values;
        return cudasim_call{*site, (void (*)(P...))site->kernel}.submit(*(P *)values[I]...);
    }
    CUDASIM_UNCHECKED static cudaError_t launch(const cudasim_launch_site *site, void **values) {
        return submit_at(site, values, std::index_sequence_for<P...>{});
    }
    template <size_t... I>
    CUDASIM_UNCHECKED static void locate_each(arguments *a, void **values,
                                              std::index_sequence<I...>) {
        ((values[I] = (void *)&std::get<I>(a->values)), ...);
        (void)a, (void)values;
    }
    CUDASIM_UNCHECKED static void locate(void *a, void **values) {
        locate_each((arguments *)a, values, std::index_sequence_for<P...>{});
    }
    static constexpr cudasim_kernel_type type = {sizeof...(P), locate, launch};
};
/* (void *)kernel becomes a call of this. */
template <class... P> void *cudasim_kernel_address(const char *name, void (*kernel)(P...)) {
    return cudasim_know_kernel(name, (const void *)kernel, &cudasim_call<P...>::type);
}
template <class... P>
inline cudasim_call<P...> cudasim_launch(const char *file, int line, const char *name,
                                         void (*kernel)(P...), dim3 grid, dim3 block,
                                         size_t shared = 0, cudaStream_t stream = 0) {
    return {{file, line, name, (const void *)kernel, grid, block, shared, stream, false,
             &cudasim_call<P...>::type},
            kernel};
}

/* Where the name before <<< stands for a template or for several functions, the arguments decide.
   `exact` is a lambda that finds the one whose parameters have just their types; `call` calls any,
   and what it is given is converted in each thread. */
template <class E, class F> struct cudasim_deduced_call {
    cudasim_launch_site site;
    E exact;
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
        if constexpr (std::is_invocable<E, void (*)(A...)>::value) {
            cudasim_call<A...> found{site, exact((void (*)(A...))NULL)};
            found.site.kernel = (const void *)found.kernel;
            found.site.type = &found.type;
            found.submit(values...);
        } else {
            submit(values...);
        }
    }
    template <class... A> CUDASIM_UNCHECKED void submit(const A &...values) const {
        static_assert(std::is_invocable<F, A...>::value,
                      "cudasim: the kernel cannot be called with these arguments");
        static_assert((cudasim_is_plain<A> && ...),
                      "cudasim: with a class that has a destructor, give arguments of the kernel's "
                      "own types, or name the template's arguments");
        int number = 0;
        bool good = true;
        ((good = cudasim_may_pass(site, ++number, values) && good), ...);
        (void)number;
        if (good) {
            cudasim_submit_launch(&site, thread<A...>,
                                  new arguments<A...>{call, std::tuple<A...>(values...)},
                                  sizeof(arguments<A...>), release<A...>);
        }
    }
};
/* With fewer arguments than the kernel has parameters, its default arguments stand for the rest;
   with more, it is a template whose last parameter is a pack. */
template <class E, class G, class... P> struct cudasim_named_call : cudasim_call<P...> {
    E exact;
    G deduced;
    using cudasim_call<P...>::operator();
    template <class... A, class = std::enable_if_t<sizeof...(A) != sizeof...(P)>>
    CUDASIM_UNCHECKED void operator()(A... values) const {
        cudasim_launch_site other = this->site;
        other.type = NULL; /* which tells of these parameters */
        cudasim_deduced_call<E, G>{other, exact, deduced}(values...);
    }
};
template <class E, class G, class... P>
cudasim_named_call<E, G, P...> cudasim_or_deduced(const cudasim_call<P...> &call, E exact,
                                                  G deduced) {
    return {call, exact, deduced};
}
/* Of several functions of the name, none is meant: one parameter pack would take one without
   parameters. */
struct cudasim_one_kernel {
    template <class K> K *operator()(K *kernel) const {
        return kernel;
    }
};
template <class F, class E, class G>
inline auto cudasim_launch_named(const char *file, int line, const char *name, F find, E exact,
                                 G call, dim3 grid, dim3 block, size_t shared = 0,
                                 cudaStream_t stream = 0) {
    if constexpr (std::is_invocable<F, cudasim_one_kernel>::value) {
        return cudasim_or_deduced(cudasim_launch(file, line, name, find(cudasim_one_kernel()), grid,
                                                 block, shared, stream),
                                  exact, call);
    } else {
        (void)find;
        return cudasim_deduced_call<E, G>{
            {file, line, name, NULL, grid, block, shared, stream, false, NULL}, exact, call};
    }
}
/** @endcond */

#endif
