/* Conversions of 16-bit numbers with the rounding in their names, each against a search among all
   such numbers; masks of comparisons, products of complex numbers. */
#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <string.h>
#include <vector>

#include "check.cuh"

enum { NEAREST, ZERO, UP, DOWN };
static const unsigned short NOT_A_NUMBER = 0x7FFF;

/* ---- the numbers of a format ----------------------------------------------------------------- */

struct Format {
    const char *name;
    int exponent_bits, mantissa_bits;
    double value(int bits) const { /* without sign; infinity's is the next power of 2 */
        int exponent = bits >> mantissa_bits, bias = (1 << (exponent_bits - 1)) - 1;
        int mantissa = bits & ((1 << mantissa_bits) - 1);
        return exponent == 0
                   ? ldexp(mantissa, 1 - bias - mantissa_bits)
                   : ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
    }
    int infinity() const {
        return ((1 << exponent_bits) - 1) << mantissa_bits;
    }
};
static const Format HALF = {"half", 5, 10}, BFLOAT16 = {"bfloat16", 8, 7};

/* -1, 0, 1: v is less than x, equal, more. An integer of 64 bits need not fit a double. */
static int side(double v, double x) {
    return v < x ? -1 : v > x;
}
static int side(double v, __int128 x) {
    double held = std::min(v, 1e30);
    return (__int128)floor(held) < x ? -1 : (__int128)ceil(held) > x;
}
/* The same of twice x and the sum of two. */
static int side_of_middle(double low, double high, double x) {
    return side((low + high) / 2, x);
}
static int side_of_middle(double low, double high, __int128 x) {
    return side(low + high, 2 * x);
}

/* The bits of x in a format, by bisection among its numbers; x is not negative. */
template <class Exact> static int magnitude(const Format &format, Exact x, int way) {
    int low = 0, high = format.infinity() + 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        (side(format.value(middle), x) <= 0 ? low : high) = middle;
    }
    low = std::min(low, format.infinity());
    if (low == format.infinity()) {
        return way == ZERO ? low - 1 : low;
    }
    if (side(format.value(low), x) == 0 || way == ZERO) {
        return low;
    }
    int middle = side_of_middle(format.value(low), format.value(low + 1), x);
    return way == UP || middle < 0 || (middle == 0 && low % 2 == 1) ? low + 1 : low;
}
template <class Exact>
static unsigned short expected(const Format &format, Exact x, bool negative, int way) {
    int turned = way == UP ? (negative ? ZERO : UP) : way == DOWN ? (negative ? UP : ZERO) : way;
    return (unsigned short)(magnitude(format, x, turned) | (negative ? 0x8000 : 0));
}
static unsigned short expected_of(const Format &format, float x, int way) {
    if (isnan(x)) {
        return NOT_A_NUMBER;
    }
    if (isinf(x)) {
        return (unsigned short)(format.infinity() | (x < 0 ? 0x8000 : 0));
    }
    return expected(format, (double)fabsf(x), signbit(x), way);
}
template <class Integer>
static unsigned short expected_of(const Format &format, Integer x, int way) {
    __int128 exact = x;
    return expected(format, exact < 0 ? -exact : exact, exact < 0, way);
}

/* ---- to 16 bits ------------------------------------------------------------------------------ */

#define TO_NARROW(type, stem, bits)                                                                \
    __global__ void run##stem(const type *x, unsigned short *out, int count) {                     \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (i < count) {                                                                           \
            out[4 * i + NEAREST] = bits(stem##_rn(x[i]));                                          \
            out[4 * i + ZERO] = bits(stem##_rz(x[i]));                                             \
            out[4 * i + UP] = bits(stem##_ru(x[i]));                                               \
            out[4 * i + DOWN] = bits(stem##_rd(x[i]));                                             \
        }                                                                                          \
    }
#define ALL_TO_NARROW(name, bits)                                                                  \
    TO_NARROW(float, __float2##name, bits)                                                         \
    TO_NARROW(short, __short2##name, bits)                                                         \
    TO_NARROW(unsigned short, __ushort2##name, bits)                                               \
    TO_NARROW(int, __int2##name, bits)                                                             \
    TO_NARROW(unsigned, __uint2##name, bits)                                                       \
    TO_NARROW(long long, __ll2##name, bits)                                                        \
    TO_NARROW(unsigned long long, __ull2##name, bits)
ALL_TO_NARROW(half, __half_as_ushort)
ALL_TO_NARROW(bfloat16, __bfloat16_as_ushort)

template <class Number>
static void ask(const Format &format, const char *what, const std::vector<Number> &numbers,
                void (*kernel)(const Number *, unsigned short *, int)) {
    int count = (int)numbers.size();
    Number *x;
    unsigned short *out;
    OK(cudaMallocManaged(&x, count * sizeof *x));
    OK(cudaMallocManaged(&out, 4 * count * sizeof *out));
    memcpy(x, numbers.data(), count * sizeof *x);
    kernel<<<(count + 127) / 128, 128>>>(x, out, count);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 4 * count; i++) {
        unsigned short wanted = expected_of(format, x[i / 4], i % 4);
        if (out[i] != wanted) {
            fprintf(stderr, "%s to %s, way %d, number %d (%g): %04x, not %04x\n", what, format.name,
                    i % 4, i / 4, (double)x[i / 4], out[i], wanted);
            exit(1);
        }
    }
    OK(cudaFree(x));
    OK(cudaFree(out));
}

/* Each 37th number, the middle to the next, the floats beside it; the ends. */
static std::vector<float> floats(const Format &format) {
    std::vector<float> numbers = {0,        -0.0f,    1e-45f,    -1e-45f, 3.4e38f,
                                  -3.4e38f, INFINITY, -INFINITY, NAN};
    for (int bits = 0; bits < format.infinity(); bits += bits < 40 ? 1 : 37) {
        for (int last : {bits, std::max(format.infinity() - 1 - bits, 0)}) {
            float here = (float)format.value(last);
            float middle = (float)((format.value(last) + format.value(last + 1)) / 2);
            for (float x : {here, middle, nextafterf(middle, 0), nextafterf(middle, INFINITY)}) {
                numbers.push_back(x);
                numbers.push_back(-x);
            }
        }
    }
    return numbers;
}
/* Around the powers of 2, and the middle between two numbers beside them. */
template <class Integer> static std::vector<Integer> integers() {
    std::vector<Integer> numbers = {0};
    int bits = 8 * sizeof(Integer);
    for (int power = 0; power < bits; power++) {
        for (int finer : {63, 7, 8, 10, 11}) {
            unsigned long long x = 1ull << power;
            x += finer <= power ? 1ull << (power - finer) : 0;
            for (int off = -1; off <= 1; off++) {
                numbers.push_back((Integer)(x + off));
                numbers.push_back((Integer)(0 - x + off));
            }
        }
    }
    return numbers;
}

#define ASK_TO_NARROW(format, name)                                                                \
    ask(format, "float", floats(format), run__float2##name);                                       \
    ask(format, "short", integers<short>(), run__short2##name);                                    \
    ask(format, "ushort", integers<unsigned short>(), run__ushort2##name);                         \
    ask(format, "int", integers<int>(), run__int2##name);                                          \
    ask(format, "uint", integers<unsigned>(), run__uint2##name);                                   \
    ask(format, "ll", integers<long long>(), run__ll2##name);                                      \
    ask(format, "ull", integers<unsigned long long>(), run__ull2##name);

/* ---- to integers ----------------------------------------------------------------------------- */

#define FROM_NARROW(type, stem, from_bits)                                                         \
    __global__ void run##stem(type *out) {                                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        out[4 * i + NEAREST] = stem##_rn(from_bits((unsigned short)i));                            \
        out[4 * i + ZERO] = stem##_rz(from_bits((unsigned short)i));                               \
        out[4 * i + UP] = stem##_ru(from_bits((unsigned short)i));                                 \
        out[4 * i + DOWN] = stem##_rd(from_bits((unsigned short)i));                               \
    }
#define ALL_FROM_NARROW(name, from_bits)                                                           \
    FROM_NARROW(short, __##name##2short, from_bits)                                                \
    FROM_NARROW(unsigned short, __##name##2ushort, from_bits)                                      \
    FROM_NARROW(int, __##name##2int, from_bits)                                                    \
    FROM_NARROW(unsigned, __##name##2uint, from_bits)                                              \
    FROM_NARROW(long long, __##name##2ll, from_bits)                                               \
    FROM_NARROW(unsigned long long, __##name##2ull, from_bits)                                     \
    __global__ void run__##name##2char(signed char *out) {                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        out[i] = __##name##2char_rz(from_bits((unsigned short)i));                                 \
    }                                                                                              \
    __global__ void run__##name##2uchar(unsigned char *out) {                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        out[i] = __##name##2uchar_rz(from_bits((unsigned short)i));                                \
    }
ALL_FROM_NARROW(half, __ushort_as_half)
ALL_FROM_NARROW(bfloat16, __ushort_as_bfloat16)

template <class Integer> static Integer whole(const Format &format, unsigned short bits, int way) {
    const int size = 8 * sizeof(Integer);
    const bool has_sign = (Integer)-1 < 0;
    if ((bits & 0x7FFF) > format.infinity()) {
        return size == 64 ? (Integer)(1ull << 63) : 0;
    }
    double x = (bits & 0x7FFF) == format.infinity() ? INFINITY : format.value(bits & 0x7FFF);
    x = bits & 0x8000 ? -x : x;
    x = way == ZERO ? trunc(x) : way == UP ? ceil(x) : way == DOWN ? floor(x) : rint(x);
    __int128 most = ((__int128)1 << (size - has_sign)) - 1, least = has_sign ? -most - 1 : 0;
    __int128 value = (__int128)std::max(std::min(x, 1e30), -1e30);
    return (Integer)std::max(least, std::min(most, value));
}
template <class Integer>
static void ask_back(const Format &format, void (*kernel)(Integer *), int ways) {
    Integer *out;
    OK(cudaMallocManaged(&out, ways * 65536 * sizeof *out));
    kernel<<<512, 128>>>(out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < ways * 65536; i++) {
        int way = ways == 1 ? ZERO : i % 4;
        Integer wanted = whole<Integer>(format, (unsigned short)(i / ways), way);
        if (out[i] != wanted) {
            fprintf(stderr, "%s %04x to %d bytes, way %d: %lld, not %lld\n", format.name, i / ways,
                    (int)sizeof(Integer), way, (long long)out[i], (long long)wanted);
            exit(1);
        }
    }
    OK(cudaFree(out));
}
#define ASK_FROM_NARROW(format, name)                                                              \
    ask_back(format, run__##name##2short, 4);                                                      \
    ask_back(format, run__##name##2ushort, 4);                                                     \
    ask_back(format, run__##name##2int, 4);                                                        \
    ask_back(format, run__##name##2uint, 4);                                                       \
    ask_back(format, run__##name##2ll, 4);                                                         \
    ask_back(format, run__##name##2ull, 4);                                                        \
    ask_back(format, run__##name##2char, 1);                                                       \
    ask_back(format, run__##name##2uchar, 1);

/* ---- pairs ----------------------------------------------------------------------------------- */

template <class Pair> __device__ static int pairs(Pair a, Pair b, Pair nothing) {
    int bad = __heq2_mask(a, b) != 0x0000FFFFu || __hne2_mask(a, b) != 0xFFFF0000u;
    bad |= (__hlt2_mask(a, b) != 0xFFFF0000u || __hle2_mask(a, b) != 0xFFFFFFFFu) << 1;
    bad |= (__hgt2_mask(a, b) != 0 || __hge2_mask(a, b) != 0x0000FFFFu) << 2;
    bad |= (__heq2_mask(a, nothing) != 0 || __hequ2_mask(a, nothing) != 0xFFFF0000u) << 3;
    bad |= (__hltu2_mask(a, nothing) != 0xFFFFFFFFu || __hgeu2_mask(b, b) != 0xFFFFFFFFu) << 4;
    Pair product = __hcmadd(a, b, a); /* (1 + 2i)(1 + 3i) + 1 + 2i */
    bad |= (__low2float(product) != -4 || __high2float(product) != 7) << 5;
    return bad;
}
__global__ void both(int *bad) {
    *bad = pairs(__floats2half2_rn(1, 2), __floats2half2_rn(1, 3), __floats2half2_rn(5, NAN));
    *bad |= pairs(__floats2bfloat162_rn(1, 2), __floats2bfloat162_rn(1, 3),
                  __floats2bfloat162_rn(5, NAN))
            << 8;
    float near = __half2float(htanh_approx(__float2half(0.5f)));
    *bad |= (fabsf(near - 0.46211716f) > 1e-3f) << 16;
}

int main() {
    ASK_TO_NARROW(HALF, half)
    ASK_TO_NARROW(BFLOAT16, bfloat16)
    ASK_FROM_NARROW(HALF, half)
    ASK_FROM_NARROW(BFLOAT16, bfloat16)
    int *bad;
    OK(cudaMallocManaged(&bad, sizeof *bad));
    both<<<1, 1>>>(bad);
    OK(cudaDeviceSynchronize());
    if (*bad != 0) {
        fprintf(stderr, "not so: %x\n", *bad);
        return 1;
    }
    OK(cudaFree(bad));
}
