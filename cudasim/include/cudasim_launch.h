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
template <class Type>
CUDASIM_DEVICE bool cudasim_may_pass(const cudasim_launch_site &site, int number,
                                     const Type &value) {
    if constexpr (std::is_pointer<Type>::value &&
                  !std::is_function<std::remove_pointer_t<Type>>::value) {
        return cudasim_pointer_argument(&site, number, (const volatile void *)value) != 0;
    }
    return (void)site, (void)number, (void)value, true;
}

/* A parameter as the launch keeps it. CUDA copies a kernel's parameters once, as bytes: a class
   with a destructor is copied and destroyed by the host alone. */
template <class Type>
inline constexpr bool cudasim_is_plain =
    std::is_trivially_copy_constructible<Type>::value &&std::is_trivially_destructible<Type>::value;
template <class Type> struct cudasim_bytes { alignas(Type) unsigned char bytes[sizeof(Type)]; };
template <class Type>
using cudasim_kept =
    std::conditional_t<cudasim_is_plain<Type>, Type, cudasim_bytes<std::remove_cv_t<Type>>>;
/* Such a class is passed by the address of a copy: the caller's business, and so is its end. */
template <class Type>
using cudasim_passed = std::conditional_t<cudasim_is_plain<Type>, Type, Type &>;

/* k<<<...>>>(args) becomes this: operator() has exactly the kernel's parameters, so numbers and
   NULL convert as in CUDA. The arguments are copied, since the kernel runs when its stream does. */
template <class... Parameters> struct cudasim_call {
    static_assert((!std::is_reference<Parameters>::value && ...),
                  "cudasim: unsupported: references among a kernel's parameters, which are "
                  "copies; pass a pointer");
    static_assert((sizeof(Parameters) + ... + 0) <= 32764,
                  "cudasim: unsupported: more than 32764 bytes of parameters, as in CUDA; pass a "
                  "pointer");
    cudasim_launch_site site;
    void (*kernel)(Parameters...);

    struct arguments {
        void (*kernel)(Parameters...);
        std::tuple<cudasim_kept<Parameters>...> values;
    };
    template <class Type> CUDASIM_UNCHECKED static cudasim_kept<Type> keep(const Type &value) {
        if constexpr (cudasim_is_plain<Type>) {
            return value;
        } else {
            cudasim_kept<Type> copy;
            __builtin_memcpy(copy.bytes, (const void *)&value, sizeof value);
            return copy;
        }
    }
    template <class Type>
    CUDASIM_UNCHECKED static cudasim_passed<Type> pass(cudasim_kept<Type> &value) {
        if constexpr (cudasim_is_plain<Type>) {
            return value;
        } else {
            return *(Type *)value.bytes;
        }
    }
    template <size_t... Index>
    CUDASIM_UNCHECKED static void call(arguments *a, std::index_sequence<Index...>) {
        if constexpr ((cudasim_is_plain<Parameters> && ...)) {
            a->kernel(std::get<Index>(a->values)...);
        } else {
            std::tuple<cudasim_kept<Parameters>...> own =
                a->values; /* each thread may change its own */
            ((void (*)(cudasim_passed<Parameters>...))(void *)a->kernel)(
                pass<Parameters>(std::get<Index>(own))...);
        }
    }
    CUDASIM_UNCHECKED static void thread(void *a) {
        call((arguments *)a, std::index_sequence_for<Parameters...>{});
    }
    CUDASIM_UNCHECKED static void release(void *a) {
        delete (arguments *)a;
    }
    CUDASIM_UNCHECKED void operator()(Parameters... values) const {
        submit(values...);
    }
    CUDASIM_UNCHECKED cudaError_t submit(const Parameters &...values) const {
        int number = 0;
        bool good = true;
        ((good = cudasim_may_pass(site, ++number, values) && good), ...);
        (void)number;
        return good ? cudasim_submit_launch(&site, thread,
                                            new arguments{kernel, {keep<Parameters>(values)...}},
                                            sizeof(arguments), release)
                    : cudaErrorIllegalAddress;
    }

    /* The same with arguments by address: graphs, cudaLaunchKernel(). */
    template <size_t... Index>
    CUDASIM_UNCHECKED static cudaError_t submit_at(const cudasim_launch_site *site, void **values,
                                                   std::index_sequence<Index...>) {
        (void)values;
        return cudasim_call{*site, (void (*)(Parameters...))site->kernel}.submit(
            *(Parameters *)values[Index]...);
    }
    CUDASIM_UNCHECKED static cudaError_t launch(const cudasim_launch_site *site, void **values) {
        return submit_at(site, values, std::index_sequence_for<Parameters...>{});
    }
    template <size_t... Index>
    CUDASIM_UNCHECKED static void locate_each(arguments *a, void **values,
                                              std::index_sequence<Index...>) {
        ((values[Index] = (void *)&std::get<Index>(a->values)), ...);
        (void)a, (void)values;
    }
    CUDASIM_UNCHECKED static void locate(void *a, void **values) {
        locate_each((arguments *)a, values, std::index_sequence_for<Parameters...>{});
    }
    static constexpr cudasim_kernel_type type = {sizeof...(Parameters), locate, launch};
};
/* (void *)kernel becomes a call of this. */
template <class... Parameters>
void *cudasim_kernel_address(const char *name, void (*kernel)(Parameters...)) {
    return cudasim_know_kernel(name, (const void *)kernel, &cudasim_call<Parameters...>::type);
}
template <class... Parameters>
inline cudasim_call<Parameters...>
cudasim_launch(const char *file, int line, const char *name, void (*kernel)(Parameters...),
               dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0) {
    return {{file, line, name, (const void *)kernel, grid, block, shared, stream, false,
             &cudasim_call<Parameters...>::type},
            kernel};
}

/* Where the name before <<< stands for a template or for several functions, the arguments decide.
   `exact` is a lambda that finds the one whose parameters have just their types; `call` calls any,
   and what it is given is converted in each thread. */
template <class Exact, class Function> struct cudasim_deduced_call {
    cudasim_launch_site site;
    Exact exact;
    Function call;

    template <class... Arguments> struct arguments {
        Function call;
        std::tuple<Arguments...> values;
    };
    template <class... Arguments, size_t... Index>
    CUDASIM_UNCHECKED static void call_with(const arguments<Arguments...> *given,
                                            std::index_sequence<Index...>) {
        given->call(std::get<Index>(given->values)...);
    }
    template <class... Arguments> CUDASIM_UNCHECKED static void thread(void *a) {
        const arguments<Arguments...> *given = (const arguments<Arguments...> *)a;
        call_with(given, std::index_sequence_for<Arguments...>{});
    }
    template <class... Arguments> CUDASIM_UNCHECKED static void release(void *a) {
        delete (arguments<Arguments...> *)a;
    }
    template <class... Arguments> CUDASIM_UNCHECKED void operator()(Arguments... values) const {
        if constexpr (std::is_invocable<Exact, void (*)(Arguments...)>::value) {
            cudasim_call<Arguments...> found{site, exact((void (*)(Arguments...))NULL)};
            found.site.kernel = (const void *)found.kernel;
            found.site.type = &found.type;
            found.submit(values...);
        } else {
            submit(values...);
        }
    }
    template <class... Arguments> CUDASIM_UNCHECKED void submit(const Arguments &...values) const {
        static_assert((cudasim_is_plain<Arguments> && ...),
                      "cudasim: with a class that has a destructor, give arguments of the kernel's "
                      "own types, or name the template's arguments");
        int number = 0;
        bool good = true;
        ((good = cudasim_may_pass(site, ++number, values) && good), ...);
        (void)number;
        if (good) {
            cudasim_submit_launch(
                &site, thread<Arguments...>,
                new arguments<Arguments...>{call, std::tuple<Arguments...>(values...)},
                sizeof(arguments<Arguments...>), release<Arguments...>);
        }
    }
};
/* A whole number may be a literal 0, which is a pointer too. */
template <class Argument, class Parameter>
inline constexpr bool cudasim_may_be_null =
    std::is_integral<Argument>::value &&std::is_pointer<Parameter>::value;
template <class Argument, class Parameter>
inline constexpr bool cudasim_converts =
    std::is_convertible<Argument, Parameter>::value || cudasim_may_be_null<Argument, Parameter>;
template <class Parameter, class Argument> auto cudasim_tried(Argument &&value) {
    if constexpr (cudasim_may_be_null<Argument, Parameter>) {
        return (void)value, nullptr;
    } else {
        return value;
    }
}
/* With fewer arguments than the kernel has parameters, its default arguments stand for the rest;
   with more, it is a template whose last parameter is a pack. */
template <class Exact, class Deduced, class... Parameters>
struct cudasim_named_call : cudasim_call<Parameters...> {
    Exact exact;
    Deduced deduced;
    using cudasim_call<Parameters...>::operator();
    template <class... Arguments,
              class = std::enable_if_t<sizeof...(Arguments) != sizeof...(Parameters)>>
    CUDASIM_UNCHECKED void operator()(Arguments... values) const {
        cudasim_launch_site other = this->site;
        other.type = NULL; /* which tells of these parameters */
        cudasim_deduced_call<Exact, Deduced>{other, exact, deduced}(values...);
    }
    /* One of a wrong type: of a plain call of the kernel, in the line of the launch, the compiler
       says which. */
    template <class... Arguments,
              std::enable_if_t<sizeof...(Arguments) == sizeof...(Parameters), int> = 0,
              std::enable_if_t<!(cudasim_converts<Arguments, Parameters> && ...), int> = 0>
    void operator()(Arguments &&...values) const {
        deduced(cudasim_tried<Parameters>(std::forward<Arguments>(values))...);
    }
};
template <class Exact, class Deduced, class... Parameters>
cudasim_named_call<Exact, Deduced, Parameters...>
cudasim_or_deduced(const cudasim_call<Parameters...> &call, Exact exact, Deduced deduced) {
    return {call, exact, deduced};
}
template <class Result, class... Parameters> Result cudasim_returned(Result (*)(Parameters...));
/* Of several functions of the name, none is meant: one parameter pack would take one without
   parameters. */
struct cudasim_one_kernel {
    template <class Kernel> Kernel *operator()(Kernel *kernel) const {
        return kernel;
    }
};
/* Whether <<<...>>> has what a launch takes. */
template <class Grid, class Block, class Shared = size_t, class Stream = cudaStream_t,
          class... More>
inline constexpr bool cudasim_configures =
    sizeof...(More) == 0 &&
    std::is_convertible<Grid, dim3>::value &&std::is_convertible<Block, dim3>::value
        &&std::is_convertible<Shared, size_t>::value &&cudasim_converts<Stream, cudaStream_t>;
template <class Function, class Exact, class Deduced, class... Configuration,
          std::enable_if_t<!cudasim_configures<Configuration...>, int> = 0>
inline auto cudasim_launch_named(const char *, int, const char *, Function, Exact, Deduced,
                                 Configuration &&...) {
    static_assert(
        cudasim_configures<Configuration...>,
        "cudasim: a launch is <<<grid, block>>>, <<<grid, block, bytes of shared memory>>> "
        "or <<<grid, block, bytes of shared memory, stream>>>");
    return [](auto &&...) {};
}
template <class Function, class Exact, class Deduced>
inline auto cudasim_launch_named(const char *file, int line, const char *name, Function find,
                                 Exact exact, Deduced call, dim3 grid, dim3 block,
                                 size_t shared = 0, cudaStream_t stream = 0) {
    if constexpr (std::is_invocable<Function, cudasim_one_kernel>::value) {
        constexpr bool returns_void =
            std::is_void<decltype(cudasim_returned(find(cudasim_one_kernel())))>::value;
        static_assert(returns_void, "cudasim: a kernel returns void: let it store its result where "
                                    "a pointer leads");
        return cudasim_or_deduced(cudasim_launch(file, line, name, find(cudasim_one_kernel()), grid,
                                                 block, shared, stream),
                                  exact, call);
    } else {
        (void)find;
        return cudasim_deduced_call<Exact, Deduced>{
            {file, line, name, NULL, grid, block, shared, stream, false, NULL}, exact, call};
    }
}
/** @endcond */

#endif
