/**
 * @file cudasim_narrow.h
 * @brief Arithmetic of 16-bit numbers. Included twice: by cuda_fp16.h and by cuda_bf16.h.
 * @ingroup cudasim
 *
 * The includer defines Narrow and Narrow2 (the two types), NarrowRaw and Narrow2Raw (their bits),
 * narrow_to_float and narrow_from_float. Then there are:
 *
 *     numbers      + - * / += -= *= /= ++ -- and unary + -; == != < <= > >=
 *                  __hadd __hsub __hmul (and _rn, _sat) __hdiv __hfma (and _sat, _relu)
 *                  __hneg __habs
 *                  __heq __hne __hlt __hle __hgt __hge; with a u at the end true for a NaN
 *                  __hmin __hmax (and _nan) __hisnan __hisinf
 *     functions    hsqrt hrsqrt hrcp hexp hexp2 hexp10 hlog hlog2 hlog10 hsin hcos htanh
 *                  htanh_approx hfloor hceil htrunc hrint
 *     pairs        the same with a 2: __hadd2, __hfma2, __h2div, __hlt2 (1 or 0), __hblt2 (both?),
 *                  __hlt2_mask, h2sqrt, ...; __low2float, __high2float, __lowhigh2highlow,
 *                  __hcmadd
 *     memory       atomicAdd; __ldg, __ldcs, __stcs and the like are templates for all types
 *
 * Each operation computes in float and rounds once, which for + - * / and square roots is the
 * correctly rounded result, as on a GPU. The other functions may differ from a GPU's in the last
 * bit.
 *
 * All of them become part of the function that uses them, so check mode sees a load or store of a
 * pair as what it is on a GPU: one access of 4 bytes.
 */

/** @cond */
#ifndef CUDASIM_NARROW_H
#define CUDASIM_NARROW_H

#define CUDASIM_MEMBER __attribute__((always_inline)) inline

#endif

/* ---- the types ------------------------------------------------------------------------------- */

struct __align__(2) Narrow {
  protected:
    unsigned short __x;

  public:
    Narrow() = default;
    CUDASIM_MEMBER Narrow(const NarrowRaw &raw) : __x(raw.x) {
    }
    CUDASIM_MEMBER Narrow(float x) : __x(narrow_from_float(x)) {
    }
    CUDASIM_MEMBER Narrow(double x) : __x(narrow_from_float(cudasim_odd_float(x))) {
    }
    CUDASIM_MEMBER Narrow(short x) : Narrow(float(x)) {
    }
    CUDASIM_MEMBER Narrow(unsigned short x) : Narrow(float(x)) {
    }
    CUDASIM_MEMBER Narrow(int x) : Narrow(double(x)) {
    }
    CUDASIM_MEMBER Narrow(unsigned x) : Narrow(double(x)) {
    }
    CUDASIM_MEMBER Narrow(unsigned long long x) : Narrow(cudasim_odd_integer(x)) {
    }
    CUDASIM_MEMBER Narrow(long long x)
        : Narrow(x < 0 ? -cudasim_odd_integer(-(unsigned long long)x)
                       : cudasim_odd_integer((unsigned long long)x)) {
    }
    CUDASIM_MEMBER Narrow(unsigned long x) : Narrow((unsigned long long)x) {
    }
    CUDASIM_MEMBER Narrow(long x) : Narrow((long long)x) {
    }
    CUDASIM_MEMBER operator NarrowRaw() const {
        return NarrowRaw{__x};
    }
    CUDASIM_MEMBER operator float() const {
        return narrow_to_float(__x);
    }
};

/* Copied as one word. Left to itself a compiler may copy one half after the other. */
struct __align__(4) Narrow2 {
    Narrow x, y;

    Narrow2() = default;
    CUDASIM_MEMBER Narrow2(const Narrow &a, const Narrow &b) {
        unsigned word = NarrowRaw(a).x | (unsigned)NarrowRaw(b).x << 16;
        __builtin_memcpy((void *)this, &word, sizeof word);
    }
    CUDASIM_MEMBER Narrow2(const Narrow2Raw &raw) {
        __builtin_memcpy((void *)this, &raw, sizeof raw);
    }
    CUDASIM_MEMBER Narrow2(const Narrow2 &from) {
        *this = from;
    }
    CUDASIM_MEMBER Narrow2 &operator=(const Narrow2 &from) {
        unsigned word;
        __builtin_memcpy(&word, (const void *)&from, sizeof word);
        __builtin_memcpy((void *)this, &word, sizeof word);
        return *this;
    }
    CUDASIM_MEMBER operator Narrow2Raw() const {
        Narrow2Raw raw;
        __builtin_memcpy(&raw, (const void *)this, sizeof raw);
        return raw;
    }
};

/* ---- arithmetic ------------------------------------------------------------------------------ */

CUDASIM_INTRINSIC Narrow __hadd(Narrow a, Narrow b) {
    return Narrow(float(a) + float(b));
}
CUDASIM_INTRINSIC Narrow __hsub(Narrow a, Narrow b) {
    return Narrow(float(a) - float(b));
}
CUDASIM_INTRINSIC Narrow __hmul(Narrow a, Narrow b) {
    return Narrow(float(a) * float(b));
}
CUDASIM_INTRINSIC Narrow __hdiv(Narrow a, Narrow b) {
    return Narrow(float(a) / float(b));
}
/* The product is exact in double. */
CUDASIM_INTRINSIC Narrow __hfma(Narrow a, Narrow b, Narrow c) {
    return Narrow(cudasim_odd_sum((double)float(a) * (double)float(b), (double)float(c)));
}
CUDASIM_INTRINSIC Narrow __hneg(Narrow a) {
    NarrowRaw raw = a;
    raw.x ^= 0x8000;
    return Narrow(raw);
}
CUDASIM_INTRINSIC Narrow __habs(Narrow a) {
    NarrowRaw raw = a;
    raw.x &= 0x7fff;
    return Narrow(raw);
}

CUDASIM_INTRINSIC bool __hisnan(Narrow a) {
    return float(a) != float(a);
}
CUDASIM_INTRINSIC int __hisinf(Narrow a) {
    return float(a) == INFINITY ? 1 : float(a) == -INFINITY ? -1 : 0;
}

/* Into 0 to 1; NaN becomes 0. */
CUDASIM_INTRINSIC Narrow cudasim_saturate(Narrow a) {
    return Narrow(__saturatef(float(a)));
}
CUDASIM_INTRINSIC Narrow __hadd_sat(Narrow a, Narrow b) {
    return cudasim_saturate(__hadd(a, b));
}
CUDASIM_INTRINSIC Narrow __hsub_sat(Narrow a, Narrow b) {
    return cudasim_saturate(__hsub(a, b));
}
CUDASIM_INTRINSIC Narrow __hmul_sat(Narrow a, Narrow b) {
    return cudasim_saturate(__hmul(a, b));
}
CUDASIM_INTRINSIC Narrow __hfma_sat(Narrow a, Narrow b, Narrow c) {
    return cudasim_saturate(__hfma(a, b, c));
}
/* A GPU may turn a * b + c into one operation; not with these. Here it never does. */
CUDASIM_INTRINSIC Narrow __hadd_rn(Narrow a, Narrow b) {
    return __hadd(a, b);
}
CUDASIM_INTRINSIC Narrow __hsub_rn(Narrow a, Narrow b) {
    return __hsub(a, b);
}
CUDASIM_INTRINSIC Narrow __hmul_rn(Narrow a, Narrow b) {
    return __hmul(a, b);
}

/* ---- comparison ------------------------------------------------------------------------------ */

#define CUDASIM_COMPARE(name, op)                                                                  \
    CUDASIM_INTRINSIC bool name(Narrow a, Narrow b) {                                              \
        return !(__hisnan(a) || __hisnan(b)) && float(a) op float(b);                              \
    }                                                                                              \
    CUDASIM_INTRINSIC bool name##u(Narrow a, Narrow b) {                                           \
        return __hisnan(a) || __hisnan(b) || float(a) op float(b);                                 \
    }
CUDASIM_COMPARE(__heq, ==)
CUDASIM_COMPARE(__hne, !=)
CUDASIM_COMPARE(__hlt, <)
CUDASIM_COMPARE(__hle, <=)
CUDASIM_COMPARE(__hgt, >)
CUDASIM_COMPARE(__hge, >=)

/* Of +0 and -0 the minimum is -0. */
CUDASIM_INTRINSIC bool cudasim_less(Narrow a, Narrow b) {
    return float(a) < float(b) || (float(a) == float(b) && (NarrowRaw(a).x & 0x8000) != 0);
}
/* With one NaN the other number. */
CUDASIM_INTRINSIC Narrow __hmin(Narrow a, Narrow b) {
    return __hisnan(b) || cudasim_less(a, b) ? Narrow(float(a)) : Narrow(float(b));
}
CUDASIM_INTRINSIC Narrow __hmax(Narrow a, Narrow b) {
    return __hisnan(b) || cudasim_less(b, a) ? Narrow(float(a)) : Narrow(float(b));
}
/* With one NaN a NaN. */
CUDASIM_INTRINSIC Narrow __hmin_nan(Narrow a, Narrow b) {
    return __hisnan(a) ? Narrow(NAN) : __hisnan(b) ? Narrow(NAN) : __hmin(a, b);
}
CUDASIM_INTRINSIC Narrow __hmax_nan(Narrow a, Narrow b) {
    return __hisnan(a) ? Narrow(NAN) : __hisnan(b) ? Narrow(NAN) : __hmax(a, b);
}
CUDASIM_INTRINSIC Narrow __hfma_relu(Narrow a, Narrow b, Narrow c) {
    return __hmax_nan(__hfma(a, b, c), Narrow(0.0f));
}

/* ---- pairs ----------------------------------------------------------------------------------- */

CUDASIM_INTRINSIC float __low2float(Narrow2 a) {
    return float(a.x);
}
CUDASIM_INTRINSIC float __high2float(Narrow2 a) {
    return float(a.y);
}
CUDASIM_INTRINSIC Narrow2 __lowhigh2highlow(Narrow2 a) {
    return Narrow2(a.y, a.x);
}

#define CUDASIM_PAIR_1(name, single)                                                               \
    CUDASIM_INTRINSIC Narrow2 name(Narrow2 a) {                                                    \
        return Narrow2(single(a.x), single(a.y));                                                  \
    }
#define CUDASIM_PAIR_2(name, single)                                                               \
    CUDASIM_INTRINSIC Narrow2 name(Narrow2 a, Narrow2 b) {                                         \
        return Narrow2(single(a.x, b.x), single(a.y, b.y));                                        \
    }
#define CUDASIM_PAIR_3(name, single)                                                               \
    CUDASIM_INTRINSIC Narrow2 name(Narrow2 a, Narrow2 b, Narrow2 c) {                              \
        return Narrow2(single(a.x, b.x, c.x), single(a.y, b.y, c.y));                              \
    }
CUDASIM_PAIR_1(__hneg2, __hneg)
CUDASIM_PAIR_1(__habs2, __habs)
CUDASIM_PAIR_1(__hisnan2, __hisnan)
CUDASIM_PAIR_2(__hadd2, __hadd)
CUDASIM_PAIR_2(__hsub2, __hsub)
CUDASIM_PAIR_2(__hmul2, __hmul)
CUDASIM_PAIR_2(__h2div, __hdiv)
CUDASIM_PAIR_2(__hadd2_rn, __hadd)
CUDASIM_PAIR_2(__hsub2_rn, __hsub)
CUDASIM_PAIR_2(__hmul2_rn, __hmul)
CUDASIM_PAIR_2(__hadd2_sat, __hadd_sat)
CUDASIM_PAIR_2(__hsub2_sat, __hsub_sat)
CUDASIM_PAIR_2(__hmul2_sat, __hmul_sat)
CUDASIM_PAIR_2(__hmin2, __hmin)
CUDASIM_PAIR_2(__hmax2, __hmax)
CUDASIM_PAIR_2(__hmin2_nan, __hmin_nan)
CUDASIM_PAIR_2(__hmax2_nan, __hmax_nan)
CUDASIM_PAIR_3(__hfma2, __hfma)
CUDASIM_PAIR_3(__hfma2_sat, __hfma_sat)
CUDASIM_PAIR_3(__hfma2_relu, __hfma_relu)

/* Of complex numbers, a * b + c. */
CUDASIM_INTRINSIC Narrow2 __hcmadd(Narrow2 a, Narrow2 b, Narrow2 c) {
    return Narrow2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),
                   __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

/* __hlt2 answers for each pair with 1 or 0, __hblt2 whether it is so for both; __hlt2_mask has all
   bits of a number for which it is so. */
#define CUDASIM_PAIR_COMPARE(op)                                                                   \
    CUDASIM_PAIR_2(__h##op##2, __h##op)                                                            \
    CUDASIM_PAIR_2(__h##op##u2, __h##op##u)                                                        \
    CUDASIM_INTRINSIC bool __hb##op##2(Narrow2 a, Narrow2 b) {                                     \
        return __h##op(a.x, b.x) && __h##op(a.y, b.y);                                             \
    }                                                                                              \
    CUDASIM_INTRINSIC bool __hb##op##u2(Narrow2 a, Narrow2 b) {                                    \
        return __h##op##u(a.x, b.x) && __h##op##u(a.y, b.y);                                       \
    }                                                                                              \
    CUDASIM_INTRINSIC unsigned __h##op##2_mask(Narrow2 a, Narrow2 b) {                             \
        return (__h##op(a.x, b.x) ? 0xFFFFu : 0) | (__h##op(a.y, b.y) ? 0xFFFF0000u : 0);          \
    }                                                                                              \
    CUDASIM_INTRINSIC unsigned __h##op##u2_mask(Narrow2 a, Narrow2 b) {                            \
        return (__h##op##u(a.x, b.x) ? 0xFFFFu : 0) | (__h##op##u(a.y, b.y) ? 0xFFFF0000u : 0);    \
    }
CUDASIM_PAIR_COMPARE(eq)
CUDASIM_PAIR_COMPARE(ne)
CUDASIM_PAIR_COMPARE(lt)
CUDASIM_PAIR_COMPARE(le)
CUDASIM_PAIR_COMPARE(gt)
CUDASIM_PAIR_COMPARE(ge)

/* ---- functions ------------------------------------------------------------------------------- */

#define CUDASIM_FUNCTION(name, expression)                                                         \
    CUDASIM_INTRINSIC Narrow h##name(Narrow a) {                                                   \
        float x = float(a);                                                                        \
        return Narrow(expression);                                                                 \
    }                                                                                              \
    CUDASIM_PAIR_1(h2##name, h##name)
CUDASIM_FUNCTION(sqrt, sqrtf(x))
CUDASIM_FUNCTION(rsqrt, rsqrtf(x))
CUDASIM_FUNCTION(rcp, 1 / x)
CUDASIM_FUNCTION(exp, expf(x))
CUDASIM_FUNCTION(exp2, exp2f(x))
CUDASIM_FUNCTION(exp10, powf(10, x))
CUDASIM_FUNCTION(log, logf(x))
CUDASIM_FUNCTION(log2, log2f(x))
CUDASIM_FUNCTION(log10, log10f(x))
CUDASIM_FUNCTION(sin, sinf(x))
CUDASIM_FUNCTION(cos, cosf(x))
CUDASIM_FUNCTION(tanh, tanhf(x))
CUDASIM_FUNCTION(tanh_approx, tanhf(x))
CUDASIM_FUNCTION(floor, floorf(x))
CUDASIM_FUNCTION(ceil, ceilf(x))
CUDASIM_FUNCTION(trunc, truncf(x))
CUDASIM_FUNCTION(rint, rintf(x))

/* ---- operators ------------------------------------------------------------------------------- */

#define CUDASIM_OPERATOR(Type, op, function)                                                       \
    CUDASIM_INTRINSIC Type operator op(const Type &a, const Type &b) {                             \
        return function(a, b);                                                                     \
    }                                                                                              \
    CUDASIM_INTRINSIC Type &operator op##=(Type &a, const Type &b) {                               \
        return a = function(a, b);                                                                 \
    }
#define CUDASIM_STEP(Type, op, function)                                                           \
    CUDASIM_INTRINSIC Type &operator op(Type &a) {                                                 \
        return a = function(a, cudasim_one(a));                                                    \
    }                                                                                              \
    CUDASIM_INTRINSIC Type operator op(Type &a, int) {                                             \
        Type before = a;                                                                           \
        a = function(a, cudasim_one(a));                                                           \
        return before;                                                                             \
    }
#define CUDASIM_COMPARISON(Type, op, function)                                                     \
    CUDASIM_INTRINSIC bool operator op(const Type &a, const Type &b) {                             \
        return function(a, b);                                                                     \
    }
CUDASIM_INTRINSIC Narrow cudasim_one(const Narrow &) {
    return Narrow(1.0f);
}
CUDASIM_INTRINSIC Narrow2 cudasim_one(const Narrow2 &) {
    return Narrow2(Narrow(1.0f), Narrow(1.0f));
}
CUDASIM_INTRINSIC Narrow operator+(const Narrow &a) {
    return a;
}
CUDASIM_INTRINSIC Narrow operator-(const Narrow &a) {
    return __hneg(a);
}
CUDASIM_INTRINSIC Narrow2 operator+(const Narrow2 &a) {
    return a;
}
CUDASIM_INTRINSIC Narrow2 operator-(const Narrow2 &a) {
    return __hneg2(a);
}
CUDASIM_OPERATOR(Narrow, +, __hadd)
CUDASIM_OPERATOR(Narrow, -, __hsub)
CUDASIM_OPERATOR(Narrow, *, __hmul)
CUDASIM_OPERATOR(Narrow, /, __hdiv)
CUDASIM_OPERATOR(Narrow2, +, __hadd2)
CUDASIM_OPERATOR(Narrow2, -, __hsub2)
CUDASIM_OPERATOR(Narrow2, *, __hmul2)
CUDASIM_OPERATOR(Narrow2, /, __h2div)
CUDASIM_STEP(Narrow, ++, __hadd)
CUDASIM_STEP(Narrow, --, __hsub)
CUDASIM_STEP(Narrow2, ++, __hadd2)
CUDASIM_STEP(Narrow2, --, __hsub2)
CUDASIM_COMPARISON(Narrow, ==, __heq)
CUDASIM_COMPARISON(Narrow, !=, __hneu)
CUDASIM_COMPARISON(Narrow, <, __hlt)
CUDASIM_COMPARISON(Narrow, <=, __hle)
CUDASIM_COMPARISON(Narrow, >, __hgt)
CUDASIM_COMPARISON(Narrow, >=, __hge)
CUDASIM_COMPARISON(Narrow2, ==, __hbeq2)
CUDASIM_COMPARISON(Narrow2, !=, __hbneu2)
CUDASIM_COMPARISON(Narrow2, <, __hblt2)
CUDASIM_COMPARISON(Narrow2, <=, __hble2)
CUDASIM_COMPARISON(Narrow2, >, __hbgt2)
CUDASIM_COMPARISON(Narrow2, >=, __hbge2)

/* ---- atomics --------------------------------------------------------------------------------- */

CUDASIM_DEVICE Narrow atomicAdd(Narrow *p, Narrow value, CUDASIM_CALLER) {
    return cudasim_rmw((NarrowRaw *)p,
                       [value](NarrowRaw old)
                           CUDASIM_UNCHECKED { return NarrowRaw(__hadd(old, value)); },
                       file, line);
}
CUDASIM_DEVICE Narrow2 atomicAdd(Narrow2 *p, Narrow2 value, CUDASIM_CALLER) {
    return cudasim_rmw((Narrow2Raw *)p,
                       [value](Narrow2Raw old)
                           CUDASIM_UNCHECKED { return Narrow2Raw(__hadd2(old, value)); },
                       file, line);
}

#undef CUDASIM_COMPARE
#undef CUDASIM_PAIR_1
#undef CUDASIM_PAIR_2
#undef CUDASIM_PAIR_3
#undef CUDASIM_PAIR_COMPARE
#undef CUDASIM_FUNCTION
#undef CUDASIM_OPERATOR
#undef CUDASIM_STEP
#undef CUDASIM_COMPARISON
#undef Narrow
#undef Narrow2
#undef NarrowRaw
#undef Narrow2Raw
#undef narrow_to_float
#undef narrow_from_float
/** @endcond */
