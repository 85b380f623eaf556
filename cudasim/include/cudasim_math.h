/**
 * @file cudasim_math.h
 * @brief CUDA's functions of bits and numbers, beside those of math.h. Included by
 * cudasim_kernel.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_MATH_H
#define CUDASIM_MATH_H

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
/* Of the 8 bytes of x and y, four: each by 3 bits of the selector, and a fourth bit that spreads
   its sign instead. */
CUDASIM_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned byte = (unsigned)(bytes >> (selector >> 4 * i & 7) * 8) & 0xFF;
        if (selector >> 4 * i & 8) {
            byte = byte & 0x80 ? 0xFF : 0;
        }
        result |= byte << 8 * i;
    }
    return result;
}
CUDASIM_DEVICE int __dp4a(int a, int b, int sum) {
    for (int i = 0; i < 32; i += 8) {
        sum += (signed char)(a >> i) * (signed char)(b >> i);
    }
    return sum;
}
CUDASIM_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 32; i += 8) {
        sum += (a >> i & 0xFF) * (b >> i & 0xFF);
    }
    return sum;
}
CUDASIM_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned bits) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (bits & 31)) >> 32);
}
CUDASIM_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (bits & 31));
}
CUDASIM_DEVICE long long clock64() {
    return cudasim_clock();
}
CUDASIM_DEVICE unsigned long long __globaltimer() {
    return (unsigned long long)cudasim_clock();
}
CUDASIM_DEVICE void __nanosleep(unsigned) {
    cudasim_changed_nothing(); /* who sleeps looks again afterwards */
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
CUDASIM_DEVICE float fdivide(float a, float b) {
    return a / b;
}
CUDASIM_DEVICE float __saturatef(float x) {
    return x > 0 ? (x < 1 ? x : 1) : 0;
}
/* The fast intrinsics of a GPU are less exact than these. */
#define CUDASIM_FAST __attribute__((always_inline, unused)) static inline
#define __expf(x) expf(x)
#define __exp10f(x) powf(10, (x))
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __powf(x, y) powf((x), (y))
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
/* The host's library has this name as well, and its stores are not seen. */
CUDASIM_FAST void cudasim_sincosf(float x, float *s, float *c) {
    *s = sinf(x);
    *c = cosf(x);
}
#define __sincosf(x, s, c) cudasim_sincosf((x), (s), (c))
#define __fdividef(a, b) fdividef((a), (b))
#define __mul24(a, b) ((a) * (b))

#define CUDASIM_MIN_MAX(Type)                                                                      \
    CUDASIM_DEVICE Type min(Type a, Type b) {                                                      \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    CUDASIM_DEVICE Type max(Type a, Type b) {                                                      \
        return a > b ? a : b;                                                                      \
    }
CUDASIM_MIN_MAX(int)
CUDASIM_MIN_MAX(unsigned)
CUDASIM_MIN_MAX(long)
CUDASIM_MIN_MAX(unsigned long)
CUDASIM_MIN_MAX(long long)
CUDASIM_MIN_MAX(unsigned long long)
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
/* Of two types the result has the wider, or the one without sign. */
#define CUDASIM_MIN_MAX_OF(TypeA, TypeB, Type)                                                     \
    CUDASIM_DEVICE Type min(TypeA a, TypeB b) {                                                    \
        return min((Type)a, (Type)b);                                                              \
    }                                                                                              \
    CUDASIM_DEVICE Type max(TypeA a, TypeB b) {                                                    \
        return max((Type)a, (Type)b);                                                              \
    }
CUDASIM_MIN_MAX_OF(unsigned, int, unsigned)
CUDASIM_MIN_MAX_OF(int, unsigned, unsigned)
CUDASIM_MIN_MAX_OF(unsigned long, long, unsigned long)
CUDASIM_MIN_MAX_OF(long, unsigned long, unsigned long)
CUDASIM_MIN_MAX_OF(unsigned long long, long long, unsigned long long)
CUDASIM_MIN_MAX_OF(long long, unsigned long long, unsigned long long)
CUDASIM_MIN_MAX_OF(float, double, double)
CUDASIM_MIN_MAX_OF(double, float, double)
/** @endcond */

#endif
