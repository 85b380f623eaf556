/* Two or four integers in a word, with saturation and in threes, each against plain arithmetic; the
   n-th bit of a mask; lengths of vectors of any dimension; spaces of addresses. */
#include <cuda_runtime.h>
#include <math.h>

#include "check.cuh"

static const int WORDS = 4096;

/* One of the parts of a word, as a plain integer. */
static long long part(unsigned word, int bits, int at, bool is_signed) {
    long long value = word >> at & ((1ll << bits) - 1);
    return is_signed && value >> (bits - 1) ? value - (1ll << bits) : value;
}
static long long held(long long value, int bits, bool is_signed) {
    long long most = (1ll << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return value > most ? most : value < least ? least : value;
}

/* Name, bits of a part, signed or not, plain arithmetic of parts x and y. */
#define SATURATED(each)                                                                            \
    each(__vaddss2, 16, true, x + y) each(__vaddss4, 8, true, x + y)                               \
        each(__vaddus2, 16, false, x + y) each(__vaddus4, 8, false, x + y)                         \
            each(__vsubss2, 16, true, x - y) each(__vsubss4, 8, true, x - y)                       \
                each(__vsubus2, 16, false, x - y) each(__vsubus4, 8, false, x - y)
#define ALONE(each)                                                                                \
    each(__vabsss2, 16, true, x < 0 ? -x : x) each(__vabsss4, 8, true, x < 0 ? -x : x)             \
        each(__vnegss2, 16, true, -x) each(__vnegss4, 8, true, -x)
/* The same of three; the sum wraps. */
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define WRAPPED(sum) (part((unsigned)(sum), bits, 0, is_signed))
#define OF_THREE(each, name, value)                                                                \
    each(name##_s32, 32, true, value) each(name##_u32, 32, false, value)                           \
        each(name##_s16x2, 16, true, value) each(name##_u16x2, 16, false, value)                   \
            each(name##_s32_relu, 32, true, LARGER(value, 0))                                      \
                each(name##_s16x2_relu, 16, true, LARGER(value, 0))
#define TERNARY(each)                                                                              \
    OF_THREE(each, __vimax3, LARGER(LARGER(x, y), z))                                              \
    OF_THREE(each, __vimin3, SMALLER(SMALLER(x, y), z))                                            \
    OF_THREE(each, __viaddmax, LARGER(WRAPPED(x + y), z))                                          \
    OF_THREE(each, __viaddmin, SMALLER(WRAPPED(x + y), z))

#define KERNELS(name, call)                                                                        \
    __global__ void run##name(const unsigned *a, const unsigned *b, const unsigned *c,             \
                              unsigned *out) {                                                     \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        (void)b, (void)c;                                                                          \
        out[i] = (unsigned)(call);                                                                 \
    }
#define PAIR_KERNEL(name, bits, is_signed, value) KERNELS(name, name(a[i], b[i]))
#define ALONE_KERNEL(name, bits, is_signed, value) KERNELS(name, name(a[i]))
#define TRIPLE_KERNEL(name, bits, is_signed, value) KERNELS(name, name(a[i], b[i], c[i]))
SATURATED(PAIR_KERNEL)
ALONE(ALONE_KERNEL)
TERNARY(TRIPLE_KERNEL)

static unsigned *a, *b, *c, *out;

#define ASK(name, width, has_sign, value)                                                          \
    run##name<<<WORDS / 128, 128>>>(a, b, c, out);                                                 \
    OK(cudaDeviceSynchronize());                                                                   \
    for (int i = 0; i < WORDS; i++) {                                                              \
        const int bits = width;                                                                    \
        const bool is_signed = has_sign;                                                           \
        unsigned wanted = 0;                                                                       \
        for (int at = 0; at < 32; at += bits) {                                                    \
            long long x = part(a[i], bits, at, is_signed), y = part(b[i], bits, at, is_signed),    \
                      z = part(c[i], bits, at, is_signed);                                         \
            (void)y, (void)z;                                                                      \
            long long result = held(value, bits, is_signed);                                       \
            wanted |= (unsigned)(result & ((1ll << bits) - 1)) << at;                              \
        }                                                                                          \
        if (out[i] != wanted) {                                                                    \
            fprintf(stderr, #name "(%08x, %08x, %08x) is %08x, not %08x\n", a[i], b[i], c[i],      \
                    out[i], wanted);                                                               \
            exit(1);                                                                               \
        }                                                                                          \
    }

/* Words with parts at the ends of their ranges, and others. */
static unsigned word(int i, unsigned seed) {
    static const unsigned ends[] = {0,          0xFFFFFFFF, 0x80008000, 0x7FFF7FFF,
                                    0x80808080, 0x7F7F7F7F, 0x00010001, 0x80000000};
    unsigned mixed = (unsigned)i * 2654435761u + seed;
    mixed ^= mixed >> 15;
    mixed *= 2246822519u;
    return mixed >> 28 < 8 ? ends[mixed >> 28] : mixed ^ mixed >> 13;
}

__global__ void others(const double *wide, const float *narrow, int *bad) {
    bool first, high, low;
    *bad |= __vimax_s32_relu(-3, -2) != 0 || __vimin_s32_relu(-3, 2) != 0;
    *bad |= (__vimax_s16x2_relu(0xFFFF0003, 0xFFFE0002) != 3) << 1;
    *bad |= (__vimin_s16x2_relu(0x00050003, 0xFFFE0002) != 2) << 2;
    *bad |= (__vibmax_s32(-1, -1, &first) != -1 || !first) << 3;
    *bad |= (__vibmin_u32(7, 5, &first) != 5 || first) << 4;
    *bad |= (__vibmax_s16x2(0xFFFF0003, 0x00010003, &high, &low) != 0x00010003 || high || !low)
            << 5;
    *bad |= (__vibmin_u16x2(0xFFFF0003, 0x00010003, &high, &low) != 0x00010003 || high || !low)
            << 6;
    *bad |= (fabs(norm(4, wide) / 5e200 - 1) > 1e-15 || fabs(rnorm(4, wide) * 5e200 - 1) > 1e-15)
            << 7;
    *bad |= (normf(2, narrow) != 5 || fabsf(rnormf(2, narrow) - 0.2f) > 1e-7f) << 8;
    *bad |= (__fns(0x00F0u, 0, 2) != 5 || __fns(0x00F0u, 7, -3) != 5) << 9;
    *bad |= (__fns(0x00F0u, 4, 0) != 4 || __fns(0x00F0u, 3, 0) != 0xFFFFFFFFu) << 10;
    *bad |= (__fns(0x00F0u, 5, 4) != 0xFFFFFFFFu || __fns(0x80000000u, 31, 1) != 31) << 11;
    int local = 9;
    *bad |= (*(int *)__cvta_local_to_generic(__cvta_generic_to_local(&local)) != 9) << 12;
}

int main() {
    OK(cudaMallocManaged(&a, WORDS * sizeof *a));
    OK(cudaMallocManaged(&b, WORDS * sizeof *b));
    OK(cudaMallocManaged(&c, WORDS * sizeof *c));
    OK(cudaMallocManaged(&out, WORDS * sizeof *out));
    for (int i = 0; i < WORDS; i++) {
        a[i] = word(i, 1), b[i] = word(i, 77), c[i] = word(i, 4711);
    }
    SATURATED(ASK)
    ALONE(ASK)
    TERNARY(ASK)

    double *wide;
    float *narrow;
    int *bad;
    OK(cudaMallocManaged(&wide, 4 * sizeof *wide));
    OK(cudaMallocManaged(&narrow, 2 * sizeof *narrow));
    OK(cudaMallocManaged(&bad, sizeof *bad));
    wide[0] = -3e200, wide[1] = 0, wide[2] = 4e200, wide[3] = 0;
    narrow[0] = 3, narrow[1] = -4;
    *bad = 0;
    others<<<1, 1>>>(wide, narrow, bad);
    OK(cudaDeviceSynchronize());
    if (*bad != 0) {
        fprintf(stderr, "not so: %x\n", *bad);
        return 1;
    }
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(c));
    OK(cudaFree(out));
    OK(cudaFree(wide));
    OK(cudaFree(narrow));
    OK(cudaFree(bad));
}
