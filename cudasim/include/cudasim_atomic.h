/**
 * @file cudasim_atomic.h
 * @brief CUDA's atomic functions. Included by cudasim_kernel.h.
 * @ingroup cudasim
 *
 * atomicAdd on half and bf16 is in cuda_fp16.h and cuda_bf16.h.
 */
#ifndef CUDASIM_ATOMIC_H
#define CUDASIM_ATOMIC_H

/** @cond */
/* A compare-and-swap loop, since blocks may run on several threads of the CPU. */
template <class Type, class Function>
CUDASIM_DEVICE Type cudasim_rmw(Type *p, Function update, const char *file, int line) {
    typedef std::conditional_t<sizeof(Type) == 8, unsigned long long,
                               std::conditional_t<sizeof(Type) == 4, unsigned, unsigned short>>
        Word;
    static_assert(sizeof(Type) == sizeof(Word), "atomics work on 2, 4 or 8 bytes");
    cudasim_before_atomic(p, sizeof(Type), file, line);
    Word *word = (Word *)(void *)p;
    Word old = __atomic_load_n(word, __ATOMIC_RELAXED), wanted;
    Type before, after;
    do {
        __builtin_memcpy(&before, &old, sizeof before);
        after = update(before);
        __builtin_memcpy(&wanted, &after, sizeof wanted);
    } while (!__atomic_compare_exchange_n(word, &old, wanted, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    if (old == wanted) {
        cudasim_changed_nothing();
    }
    return before;
}
#define CUDASIM_ATOMIC(name, Type, expression)                                                     \
    CUDASIM_DEVICE Type name(Type *p, Type value, CUDASIM_CALLER) {                                \
        return cudasim_rmw(                                                                        \
            p,                                                                                     \
            [value](Type old) CUDASIM_UNCHECKED {                                                  \
                (void)old;                                                                         \
                return (Type)(expression);                                                         \
            },                                                                                     \
            file, line);                                                                           \
    }                                                                                              \
    CUDASIM_DEVICE Type name##_block(Type *p, Type value, CUDASIM_CALLER) {                        \
        cudasim_within_block(p);                                                                   \
        return name(p, value, file, line);                                                         \
    }                                                                                              \
    CUDASIM_DEVICE Type name##_system(Type *p, Type value, CUDASIM_CALLER) {                       \
        return name(p, value, file, line);                                                         \
    }
#define CUDASIM_INTEGER_ATOMICS(Type)                                                              \
    CUDASIM_ATOMIC(atomicAdd, Type, old + value)                                                   \
    CUDASIM_ATOMIC(atomicExch, Type, value)                                                        \
    CUDASIM_ATOMIC(atomicMax, Type, old > value ? old : value)                                     \
    CUDASIM_ATOMIC(atomicMin, Type, old < value ? old : value)                                     \
    CUDASIM_ATOMIC(atomicAnd, Type, old &value)                                                    \
    CUDASIM_ATOMIC(atomicOr, Type, old | value)                                                    \
    CUDASIM_ATOMIC(atomicXor, Type, old ^ value)                                                   \
    CUDASIM_COMPARE_AND_SWAP(Type)
#define CUDASIM_COMPARE_AND_SWAP(Type)                                                             \
    CUDASIM_DEVICE Type atomicCAS(Type *p, Type compare, Type value, CUDASIM_CALLER) {             \
        cudasim_compares(p);                                                                       \
        return cudasim_rmw(                                                                        \
            p, [=](Type old) CUDASIM_UNCHECKED { return old == compare ? value : old; }, file,     \
            line);                                                                                 \
    }                                                                                              \
    CUDASIM_DEVICE Type atomicCAS_block(Type *p, Type compare, Type value, CUDASIM_CALLER) {       \
        cudasim_within_block(p);                                                                   \
        return atomicCAS(p, compare, value, file, line);                                           \
    }                                                                                              \
    CUDASIM_DEVICE Type atomicCAS_system(Type *p, Type compare, Type value, CUDASIM_CALLER) {      \
        return atomicCAS(p, compare, value, file, line);                                           \
    }
CUDASIM_INTEGER_ATOMICS(int)
CUDASIM_INTEGER_ATOMICS(unsigned)
CUDASIM_INTEGER_ATOMICS(unsigned long long)
CUDASIM_COMPARE_AND_SWAP(unsigned short)
CUDASIM_ATOMIC(atomicMax, long long, old > value ? old : value)
CUDASIM_ATOMIC(atomicMin, long long, old < value ? old : value)
CUDASIM_ATOMIC(atomicAnd, long long, old &value)
CUDASIM_ATOMIC(atomicOr, long long, old | value)
CUDASIM_ATOMIC(atomicXor, long long, old ^ value)
CUDASIM_ATOMIC(atomicSub, int, old - value)
CUDASIM_ATOMIC(atomicSub, unsigned, old - value)
CUDASIM_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
CUDASIM_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
CUDASIM_ATOMIC(atomicAdd, float, old + value)
CUDASIM_ATOMIC(atomicAdd, double, old + value)
CUDASIM_ATOMIC(atomicExch, float, value)
/** @endcond */

#endif
