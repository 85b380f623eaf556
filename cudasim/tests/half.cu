/* cuda_fp16.h and cuda_bf16.h, asked on the simulator (or on a GPU): every 16-bit pattern against
   kernels/half.h, and the corners of rounding. Prints the number of answers that were right. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"

enum { PATTERNS = 1 << 16, NEAR = 4 * PATTERNS };
static int failures, questions;

#define CALL(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void expect(const char *what, int i, unsigned got, unsigned wanted) {
    questions++;
    if (got != wanted && failures++ < 20) {
        printf("%s: %#x gives %#x, not %#x\n", what, i, got, wanted);
    }
}

/* A NaN is a NaN. */
static unsigned half_or_nan(unsigned short bits) {
    return (bits & 0x7fff) > 0x7c00 ? 0x7fff : bits;
}

static unsigned bf16_or_nan(unsigned short bits) {
    return (bits & 0x7fff) > 0x7f80 ? 0x7fff : bits;
}

static unsigned float_or_nan(float x) {
    return x != x ? 0x7fffffff : float_bits(x);
}

/* Device memory that the host fills and reads. */
static void *device_copy(const void *from, size_t bytes) {
    void *p;
    CALL(cudaMalloc(&p, bytes));
    CALL(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
    return p;
}

static void fetch(void *to, void *from, size_t bytes) {
    CALL(cudaGetLastError());
    CALL(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    CALL(cudaFree(from));
}

/* ---- conversions ----------------------------------------------------------------------------- */

static __global__ void to_float(float *half, float *bf16) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half[i] = __half2float(__ushort_as_half((unsigned short)i));
    bf16[i] = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
}

static void ask_to_float(void) {
    static float half[PATTERNS], bf16[PATTERNS];
    float *device_half = (float *)device_copy(half, sizeof half);
    float *device_bf16 = (float *)device_copy(bf16, sizeof bf16);
    to_float<<<PATTERNS / 256, 256>>>(device_half, device_bf16);
    fetch(half, device_half, sizeof half);
    fetch(bf16, device_bf16, sizeof bf16);
    for (int i = 0; i < PATTERNS; i++) {
        expect("__half2float", i, float_or_nan(half[i]), float_or_nan(half_to_float((uint16_t)i)));
        expect("__bfloat162float", i, float_or_nan(bf16[i]),
               float_or_nan(bf16_to_float((uint16_t)i)));
    }
}

static __global__ void from_float(unsigned short *half, unsigned short *bf16, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half[i] = __half_as_ushort(__float2half(x[i]));
    bf16[i] = __bfloat16_as_ushort(__float2bfloat16(x[i]));
}

/* Each 16-bit number, the middle between it and the next, and a float on either side of that. */
static void fill_near(float *x, int is_half) {
    for (int i = 0; i < PATTERNS; i++) {
        uint32_t here =
            float_bits(is_half ? half_to_float((uint16_t)i) : bf16_to_float((uint16_t)i));
        float next = is_half ? half_to_float((uint16_t)(i + 1)) : bf16_to_float((uint16_t)(i + 1));
        uint32_t middle = here + (float_bits(next) - here) / 2;
        x[4 * i] = float_from_bits(here);
        x[4 * i + 1] = float_from_bits(middle - 1);
        x[4 * i + 2] = float_from_bits(middle);
        x[4 * i + 3] = float_from_bits(middle + 1);
    }
}

static void ask_from_float(int is_half) {
    static float x[NEAR];
    static unsigned short half[NEAR], bf16[NEAR];
    fill_near(x, is_half);
    float *device_x = (float *)device_copy(x, sizeof x);
    unsigned short *device_half = (unsigned short *)device_copy(half, sizeof half);
    unsigned short *device_bf16 = (unsigned short *)device_copy(bf16, sizeof bf16);
    from_float<<<NEAR / 256, 256>>>(device_half, device_bf16, device_x);
    fetch(half, device_half, sizeof half);
    fetch(bf16, device_bf16, sizeof bf16);
    CALL(cudaFree(device_x));
    for (int i = 0; i < NEAR; i++) {
        expect("__float2half", (int)float_bits(x[i]), half_or_nan(half[i]),
               half_or_nan(half_from_float(x[i])));
        expect("__float2bfloat16", (int)float_bits(x[i]), bf16_or_nan(bf16[i]),
               bf16_or_nan(bf16_from_float(x[i])));
    }
}

static __host__ __device__ unsigned bits(__half x) {
    return __half_as_ushort(x);
}

static __host__ __device__ unsigned bits(__nv_bfloat16 x) {
    return __bfloat16_as_ushort(x);
}

/* Numbers that must be rounded once: to float first, they would become ties. */
static void ask_rounding_once(void) {
    double tie = 1 + 0x1p-11;
    expect("half(tie)", 0, bits(__half(tie)), 0x3c00);
    expect("half(tie and a little)", 0, bits(__half(tie + 0x1p-40)), 0x3c01);
    expect("half(just below a tie)", 0, bits(__half(1 + 3 * 0x1p-11 - 0x1p-40)), 0x3c01);
    expect("half(-tie and a little)", 0, bits(__half(-tie - 0x1p-40)), 0xbc01);
    expect("half(half the smallest)", 0, bits(__half(0x1p-25)), 0);
    expect("half(a little more)", 0, bits(__half(0x1p-25 + 0x1p-70)), 1);
    expect("half(1e300)", 0, bits(__half(1e300)), 0x7c00);
    expect("half(65520 - a little)", 0, bits(__half(65520 - 1e-9)), 0x7bff);
    expect("bf16(tie and a little)", 0, bits(__nv_bfloat16(1 + 0x1p-8 + 0x1p-40)), 0x3f81);
    expect("bf16(int)", 0, bits(__nv_bfloat16(0x01010001)), 0x4b81);
    expect("bf16(long)", 0, bits(__nv_bfloat16((1ll << 60) + (1ll << 52) + 1)), 0x5d81);
    expect("bf16(-long)", 0, bits(__nv_bfloat16(-(1ll << 60) - (1ll << 52) - 1)), 0xdd81);
    expect("half(int)", 0, bits(__half(2049)), 0x6800);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

enum { OPERATIONS = 5 };

static __global__ void arithmetic(unsigned short *half, unsigned short *bf16, unsigned step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short other = (unsigned short)(i * step + 12345);
    __half a = __ushort_as_half((unsigned short)i), b = __ushort_as_half(other);
    unsigned short *h = half + OPERATIONS * i;
    h[0] = __half_as_ushort(a + b);
    h[1] = __half_as_ushort(a - b);
    h[2] = __half_as_ushort(a * b);
    h[3] = __half_as_ushort(a / b);
    h[4] = __half_as_ushort(hsqrt(a));
    __nv_bfloat16 c = __ushort_as_bfloat16((unsigned short)i), d = __ushort_as_bfloat16(other);
    unsigned short *g = bf16 + OPERATIONS * i;
    g[0] = __bfloat16_as_ushort(c + d);
    g[1] = __bfloat16_as_ushort(c - d);
    g[2] = __bfloat16_as_ushort(c * d);
    g[3] = __bfloat16_as_ushort(c / d);
    g[4] = __bfloat16_as_ushort(hsqrt(c));
}

static float in_float(int operation, float a, float b) {
    return operation == 0   ? a + b
           : operation == 1 ? a - b
           : operation == 2 ? a * b
           : operation == 3 ? a / b
                            : sqrtf(a);
}

static void ask_arithmetic(unsigned step) {
    static const char *const names[OPERATIONS] = {"+", "-", "*", "/", "hsqrt"};
    static unsigned short half[OPERATIONS * PATTERNS], bf16[OPERATIONS * PATTERNS];
    unsigned short *device_half = (unsigned short *)device_copy(half, sizeof half);
    unsigned short *device_bf16 = (unsigned short *)device_copy(bf16, sizeof bf16);
    arithmetic<<<PATTERNS / 256, 256>>>(device_half, device_bf16, step);
    fetch(half, device_half, sizeof half);
    fetch(bf16, device_bf16, sizeof bf16);
    for (int i = 0; i < PATTERNS; i++) {
        uint16_t other = (uint16_t)(i * step + 12345);
        for (int o = 0; o < OPERATIONS; o++) {
            float h = in_float(o, half_to_float((uint16_t)i), half_to_float(other));
            float g = in_float(o, bf16_to_float((uint16_t)i), bf16_to_float(other));
            expect(names[o], i, half_or_nan(half[OPERATIONS * i + o]),
                   half_or_nan(half_from_float(h)));
            expect(names[o], i, bf16_or_nan(bf16[OPERATIONS * i + o]),
                   bf16_or_nan(bf16_from_float(g)));
        }
    }
}

/* What a product lacks to be a tie decides, however small it is. 1.5 * (1 + 2^-7) is in the middle
   of two bf16, 1.5 * (1 + 2^-10) in the middle of two fp16. */
static __global__ void corners(unsigned *got) {
    __nv_bfloat16 one(1.0f), x(1.5f), y(1 + 0x1p-7f), tiny(0x1p-100f), none(0.0f);
    __nv_bfloat16 infinity(INFINITY);
    *got++ = bits(__hfma(x, y, none));
    *got++ = bits(__hfma(x, y, tiny));
    *got++ = bits(__hfma(x, y, __hneg(tiny)));
    *got++ = bits(__hfma(__hneg(x), y, tiny));
    *got++ = bits(__hfma(x, __nv_bfloat16(1 + 3 * 0x1p-7f), none));
    *got++ = bits(__hfma(x, __nv_bfloat16(1 + 3 * 0x1p-7f), tiny));
    *got++ = bits(__hfma(one, one, one));
    *got++ = bits(__hfma(infinity, one, one));
    *got++ = bits(__hfma(infinity, one, __hneg(infinity)));
    __half p(1.5f), q(1 + 0x1p-10f), small(0x1p-24f), zero(0.0f);
    *got++ = bits(__hfma(p, q, zero));
    *got++ = bits(__hfma(p, q, __hneg(small)));
    *got++ = bits(__hfma(q, q, __half(-1 - 0x1p-9f)));
    __half2 both = __hfma2(__half2(p, q), __half2(q, q), __half2(__hneg(small), __half(-1.0f)));
    *got++ = bits(__low2half(both));
    *got++ = bits(__high2half(both));
    __half a(1.0f), b(2.0f), nan = __ushort_as_half(0x7e00), minus = __hneg(zero);
    *got++ = a < b;
    *got++ = b <= a;
    *got++ = nan == nan;
    *got++ = nan != nan;
    *got++ = __hne(nan, a);
    *got++ = __hltu(nan, a);
    *got++ = zero == minus;
    *got++ = bits(__hmax(nan, a));
    *got++ = bits(__hmax(a, nan));
    *got++ = bits(__hmin(nan, a));
    *got++ = bits(__hmin(a, nan));
    *got++ = bits(__hmax_nan(a, nan));
    *got++ = bits(__hmax(minus, zero));
    *got++ = bits(__hmin(zero, minus));
    *got++ = (unsigned)__hisinf(__half(-INFINITY));
    *got++ = bits(__habs(__half(-2.0f)));
    *got++ = __hbgt2(__half2(b, b), __half2(a, b));
    *got++ = bits(__low2half(__hgt2(__half2(b, b), __half2(a, b))));
    *got++ = bits(__hadd_sat(a, b));
    *got++ = bits(__hadd_sat(nan, b));
    *got++ = bits(__hfma_relu(a, a, __hneg(b)));
    *got++ = (unsigned)__half2int_rn(__half(2.5f));
    *got++ = (unsigned)__half2int_rz(__half(-2.75f));
    *got++ = (unsigned)__half2int_rz(nan);
    *got++ = (unsigned)__half2int_rz(__half(INFINITY));
}

typedef struct Answer {
    const char *what;
    unsigned wanted;
} Answer;

static void ask_corners(void) {
    static const Answer answers[] = {{"fma, bf16, tie", 0x3fc2},
                                     {"fma, bf16, above", 0x3fc2},
                                     {"fma, bf16, below", 0x3fc1},
                                     {"fma, bf16, -below", 0xbfc1},
                                     {"fma, bf16, tie, even below", 0x3fc4},
                                     {"fma, bf16, above, odd above", 0x3fc5},
                                     {"fma, bf16, exact", 0x4000},
                                     {"fma, bf16, infinity", 0x7f80},
                                     {"fma, bf16, NaN", 0x7fff},
                                     {"fma, half, tie", 0x3e02},
                                     {"fma, half, below", 0x3e01},
                                     {"fma, half, cancels", 0x0010},
                                     {"fma2, low", 0x3e01},
                                     {"fma2, high", 0x1800},
                                     {"1 < 2", 1},
                                     {"2 <= 1", 0},
                                     {"NaN == NaN", 0},
                                     {"NaN != NaN", 1},
                                     {"__hne(NaN, 1)", 0},
                                     {"__hltu(NaN, 1)", 1},
                                     {"0 == -0", 1},
                                     {"__hmax(NaN, 1)", 0x3c00},
                                     {"__hmax(1, NaN)", 0x3c00},
                                     {"__hmin(NaN, 1)", 0x3c00},
                                     {"__hmin(1, NaN)", 0x3c00},
                                     {"__hmax_nan(1, NaN)", 0x7fff},
                                     {"__hmax(-0, 0)", 0},
                                     {"__hmin(0, -0)", 0x8000},
                                     {"__hisinf(-infinity)", (unsigned)-1},
                                     {"__habs(-2)", 0x4000},
                                     {"__hbgt2", 0},
                                     {"__hgt2", 0x3c00},
                                     {"__hadd_sat(1, 2)", 0x3c00},
                                     {"__hadd_sat(NaN, 2)", 0},
                                     {"__hfma_relu", 0},
                                     {"int of 2.5, nearest", 2},
                                     {"int of -2.75, towards zero", (unsigned)-2},
                                     {"int of NaN", 0},
                                     {"int of infinity", INT_MAX}};
    enum { COUNT = sizeof answers / sizeof answers[0] };
    unsigned got[COUNT] = {0};
    unsigned *device_got = (unsigned *)device_copy(got, sizeof got);
    corners<<<1, 1>>>(device_got);
    fetch(got, device_got, sizeof got);
    for (int i = 0; i < COUNT; i++) {
        expect(answers[i].what, i, got[i], answers[i].wanted);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct Sums {
    __half2 half2;
    __nv_bfloat162 bf162;
    __half half;
    __nv_bfloat16 bf16;
} Sums;

/* Sums of ones, in any order. */
static __global__ void add(Sums *sums) {
    atomicAdd(&sums->half2, __floats2half2_rn(1, 2));
    atomicAdd(&sums->bf162, __floats2bfloat162_rn(1, -1));
    atomicAdd(&sums->half, __float2half(0.5f));
    atomicAdd(&sums->bf16, __float2bfloat16(1));
}

static void ask_atomics(void) {
    Sums sums;
    memset((void *)&sums, 0, sizeof sums);
    Sums *device_sums = (Sums *)device_copy(&sums, sizeof sums);
    add<<<4, 32>>>(device_sums);
    fetch((void *)&sums, device_sums, sizeof sums);
    expect("atomicAdd, half2, x", 0, bits(sums.half2.x), bits(__half(128)));
    expect("atomicAdd, half2, y", 0, bits(sums.half2.y), bits(__half(256)));
    expect("atomicAdd, bf162, x", 0, bits(sums.bf162.x), bits(__nv_bfloat16(128)));
    expect("atomicAdd, bf162, y", 0, bits(sums.bf162.y), bits(__nv_bfloat16(-128)));
    expect("atomicAdd, half", 0, bits(sums.half), bits(__half(64)));
    expect("atomicAdd, bf16", 0, bits(sums.bf16), bits(__nv_bfloat16(128)));
    expect("layout", 0, sizeof(__half2) == 4 && alignof(__half2) == 4 && sizeof(__half) == 2, 1);
}

int main(void) {
    ask_to_float();
    ask_from_float(0);
    ask_from_float(1);
    ask_rounding_once();
    ask_arithmetic(1);
    ask_arithmetic(40503);
    ask_corners();
    ask_atomics();
    printf("%d of %d answers are right\n", questions - failures, questions);
    return failures != 0;
}
