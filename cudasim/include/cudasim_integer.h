/**
 * @file cudasim_integer.h
 * @brief CUDA's functions of integers, and of two or four integers in one word. Included by
 * cudasim_kernel.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_INTEGER_H
#define CUDASIM_INTEGER_H

/** @cond */
CUDASIM_DEVICE unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
CUDASIM_DEVICE int __ffsll(long long x) {
    return __builtin_ffsll(x);
}
CUDASIM_DEVICE long long __mul64hi(long long a, long long b) {
    return (long long)((__int128)a * b >> 64);
}
CUDASIM_DEVICE unsigned __umul24(unsigned a, unsigned b) {
    return (a & 0xFFFFFF) * (b & 0xFFFFFF);
}
CUDASIM_DEVICE unsigned __sad(int a, int b, unsigned sum) {
    return sum + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}
CUDASIM_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned sum) {
    return sum + (a > b ? a - b : b - a);
}
CUDASIM_DEVICE int __hadd(int a, int b) {
    return (int)(((long long)a + b) >> 1);
}
CUDASIM_DEVICE int __rhadd(int a, int b) {
    return (int)(((long long)a + b + 1) >> 1);
}
CUDASIM_DEVICE unsigned __uhadd(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long long)a + b) >> 1);
}
CUDASIM_DEVICE unsigned __urhadd(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}
CUDASIM_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned bits) {
    return bits >= 32 ? low : __funnelshift_l(low, high, bits);
}
CUDASIM_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned bits) {
    return bits >= 32 ? high : __funnelshift_r(low, high, bits);
}
/* Two 16-bit numbers of a, each with a byte of the lower or the upper half of b. */
CUDASIM_DEVICE int __dp2a_lo(int a, int b, int sum) {
    return sum + (short)a * (signed char)b + (a >> 16) * (signed char)(b >> 8);
}
CUDASIM_DEVICE int __dp2a_hi(int a, int b, int sum) {
    return __dp2a_lo(a, b >> 16, sum);
}
CUDASIM_DEVICE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) {
    return sum + (a & 0xFFFF) * (b & 0xFF) + (a >> 16) * (b >> 8 & 0xFF);
}
CUDASIM_DEVICE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned sum) {
    return __dp2a_lo(a, b >> 16, sum);
}
CUDASIM_DEVICE int __dp4a(char4 a, char4 b, int sum) {
    return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
CUDASIM_DEVICE unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
    return sum + (unsigned)(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
CUDASIM_DEVICE int __double2hiint(double x) {
    return (int)(__double_as_longlong(x) >> 32);
}
CUDASIM_DEVICE int __double2loint(double x) {
    return (int)__double_as_longlong(x);
}
CUDASIM_DEVICE double __hiloint2double(int high, int low) {
    return __longlong_as_double(
        (long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}
/* The place of a bit of the mask: of the offset-th from `base` on, up, or down where the offset is
   negative; with 0 of `base` itself. */
CUDASIM_DEVICE unsigned __fns(unsigned mask, unsigned base, int offset) {
    const int step = offset < 0 ? -1 : 1;
    int left = offset == 0 ? 1 : offset < 0 ? -offset : offset;
    for (int at = (int)base; at >= 0 && at < 32; at += step) {
        left -= (int)(mask >> at & 1);
        if (left == 0) {
            return (unsigned)at;
        }
        if (offset == 0) {
            break;
        }
    }
    return 0xFFFFFFFFu;
}
CUDASIM_DEVICE unsigned umin(unsigned a, unsigned b) {
    return a < b ? a : b;
}
CUDASIM_DEVICE unsigned umax(unsigned a, unsigned b) {
    return a > b ? a : b;
}
CUDASIM_DEVICE long long llmin(long long a, long long b) {
    return a < b ? a : b;
}
CUDASIM_DEVICE long long llmax(long long a, long long b) {
    return a > b ? a : b;
}
CUDASIM_DEVICE unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return a < b ? a : b;
}
CUDASIM_DEVICE unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return a > b ? a : b;
}

/* ---- two or four in a word ------------------------------------------------------------------- */

/* f of each pair of numbers, which T says how to read. */
template <class Type, class Function>
CUDASIM_DEVICE unsigned cudasim_each(unsigned a, unsigned b, Function f) {
    const unsigned bits = 8 * sizeof(Type), mask = (1u << bits) - 1;
    unsigned result = 0;
    for (unsigned at = 0; at < 32; at += bits) {
        result |= ((unsigned)f((int)(Type)(a >> at), (int)(Type)(b >> at)) & mask) << at;
    }
    return result;
}
#define CUDASIM_EACH(name, Type, expression)                                                       \
    CUDASIM_DEVICE unsigned name(unsigned a, unsigned b) {                                         \
        return cudasim_each<Type>(a, b,                                                            \
                                  [](int x, int y) CUDASIM_UNCHECKED { return expression; });      \
    }
#define CUDASIM_EACH_SIGNED(name, expression)                                                      \
    CUDASIM_EACH(name##s2, short, expression)                                                      \
    CUDASIM_EACH(name##s4, signed char, expression)
#define CUDASIM_EACH_UNSIGNED(name, expression)                                                    \
    CUDASIM_EACH(name##u2, unsigned short, expression)                                             \
    CUDASIM_EACH(name##u4, unsigned char, expression)
#define CUDASIM_EACH_PLAIN(name, expression)                                                       \
    CUDASIM_EACH(name##2, unsigned short, expression)                                              \
    CUDASIM_EACH(name##4, unsigned char, expression)
#define CUDASIM_EACH_BOTH(name, expression)                                                        \
    CUDASIM_EACH_SIGNED(name, expression)                                                          \
    CUDASIM_EACH_UNSIGNED(name, expression)
CUDASIM_EACH_PLAIN(__vadd, x + y)
CUDASIM_EACH_PLAIN(__vsub, x - y)
/* The nearest number that fits. */
template <class Number> CUDASIM_DEVICE int cudasim_saturated(int x) {
    const int most = std::is_signed<Number>::value ? (1 << (8 * sizeof(Number) - 1)) - 1
                                                   : (1 << 8 * sizeof(Number)) - 1;
    const int least = std::is_signed<Number>::value ? -most - 1 : 0;
    return x > most ? most : x < least ? least : x;
}
#define CUDASIM_EACH_SATURATED(name, expression)                                                   \
    CUDASIM_EACH(name##ss2, short, cudasim_saturated<short>(expression))                           \
    CUDASIM_EACH(name##ss4, signed char, cudasim_saturated<signed char>(expression))               \
    CUDASIM_EACH(name##us2, unsigned short, cudasim_saturated<unsigned short>(expression))         \
    CUDASIM_EACH(name##us4, unsigned char, cudasim_saturated<unsigned char>(expression))
CUDASIM_EACH_SATURATED(__vadd, x + y)
CUDASIM_EACH_SATURATED(__vsub, x - y)
CUDASIM_EACH_BOTH(__vmax, x > y ? x : y)
CUDASIM_EACH_BOTH(__vmin, x < y ? x : y)
CUDASIM_EACH_BOTH(__vabsdiff, x > y ? x - y : y - x)
CUDASIM_EACH_BOTH(__vavg, (x + y + 1) >> 1)
CUDASIM_EACH_UNSIGNED(__vhadd, (x + y) >> 1)
CUDASIM_EACH_PLAIN(__vcmpeq, x == y ? -1 : 0)
CUDASIM_EACH_PLAIN(__vcmpne, x != y ? -1 : 0)
CUDASIM_EACH_BOTH(__vcmpgt, x > y ? -1 : 0)
CUDASIM_EACH_BOTH(__vcmpge, x >= y ? -1 : 0)
CUDASIM_EACH_BOTH(__vcmplt, x < y ? -1 : 0)
CUDASIM_EACH_BOTH(__vcmple, x <= y ? -1 : 0)
CUDASIM_EACH_PLAIN(__vseteq, x == y)
CUDASIM_EACH_PLAIN(__vsetne, x != y)
CUDASIM_EACH_BOTH(__vsetgt, x > y)
CUDASIM_EACH_BOTH(__vsetge, x >= y)
CUDASIM_EACH_BOTH(__vsetlt, x < y)
CUDASIM_EACH_BOTH(__vsetle, x <= y)
/* The sum of all differences. */
#define CUDASIM_SAD(name, Type)                                                                    \
    CUDASIM_DEVICE unsigned name(unsigned a, unsigned b) {                                         \
        unsigned sum = 0;                                                                          \
        for (unsigned at = 0; at < 32; at += 8 * sizeof(Type)) {                                   \
            sum = __sad((Type)(a >> at), (Type)(b >> at), sum);                                    \
        }                                                                                          \
        return sum;                                                                                \
    }
CUDASIM_SAD(__vsads2, short)
CUDASIM_SAD(__vsads4, signed char)
CUDASIM_SAD(__vsadu2, unsigned short)
CUDASIM_SAD(__vsadu4, unsigned char)
CUDASIM_DEVICE unsigned __vneg2(unsigned a) {
    return __vsub2(0, a);
}
CUDASIM_DEVICE unsigned __vneg4(unsigned a) {
    return __vsub4(0, a);
}
CUDASIM_DEVICE unsigned __vnegss2(unsigned a) {
    return __vsubss2(0, a);
}
CUDASIM_DEVICE unsigned __vnegss4(unsigned a) {
    return __vsubss4(0, a);
}
CUDASIM_DEVICE unsigned __vabsss2(unsigned a) {
    return __vmaxs2(a, __vnegss2(a));
}
CUDASIM_DEVICE unsigned __vabsss4(unsigned a) {
    return __vmaxs4(a, __vnegss4(a));
}
CUDASIM_DEVICE unsigned __vabs2(unsigned a) {
    return __vabsdiffs2(a, 0);
}
CUDASIM_DEVICE unsigned __vabs4(unsigned a) {
    return __vabsdiffs4(a, 0);
}
/** @endcond */

#endif
