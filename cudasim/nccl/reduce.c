#include "collective.h"

#include <math.h>

#include "cudasim_round.h"

/* Many arrays become one, in blocks: numbers of a block are widened, combined rank by rank, and
   narrowed once. Halves and bf16 are floats meanwhile, integers 64 bits: what is lost when those
   are narrowed is what would have wrapped around. */

enum { BLOCK = 1024 }; /* elements */

/* ---- widening and narrowing ------------------------------------------------------------------ */

#define WIDEN(type, to)                                                                            \
    for (size_t i = 0; i < n; i++) {                                                               \
        (to)[i] = ((const type *)from)[i];                                                         \
    }
#define NARROW(type, from)                                                                         \
    for (size_t i = 0; i < n; i++) {                                                               \
        ((type *)to)[i] = (type)(from)[i];                                                         \
    }

static void widen_floats(float *wide, const void *from, size_t n, ncclDataType_t type) {
    if (type == ncclFloat32) {
        memcpy(wide, from, n * sizeof *wide);
        return;
    }
    const unsigned short *bits = from;
    for (size_t i = 0; i < n; i++) {
        wide[i] =
            type == ncclFloat16 ? cudasim_half_to_float(bits[i]) : cudasim_bf16_to_float(bits[i]);
    }
}

static void narrow_floats(void *to, const float *wide, size_t n, ncclDataType_t type) {
    if (type == ncclFloat32) {
        memcpy(to, wide, n * sizeof *wide);
        return;
    }
    unsigned short *bits = to;
    for (size_t i = 0; i < n; i++) {
        bits[i] = type == ncclFloat16 ? cudasim_half_from_float(wide[i])
                                      : cudasim_bf16_from_float(wide[i]);
    }
}

static bool is_signed(ncclDataType_t type) {
    return type == ncclInt8 || type == ncclInt32 || type == ncclInt64;
}

/* Negative numbers have their sign in all upper bits. */
static void widen_integers(uint64_t *wide, const void *from, size_t n, ncclDataType_t type) {
    switch (type) {
    case ncclInt8:
        WIDEN(int8_t, (int64_t *)wide) break;
    case ncclUint8:
        WIDEN(uint8_t, wide) break;
    case ncclInt32:
        WIDEN(int32_t, (int64_t *)wide) break;
    case ncclUint32:
        WIDEN(uint32_t, wide) break;
    default:
        memcpy(wide, from, n * sizeof *wide);
    }
}

static void narrow_integers(void *to, const uint64_t *wide, size_t n, ncclDataType_t type) {
    switch (collective_type_bytes(type)) {
    case 1:
        NARROW(uint8_t, wide) break;
    case 4:
        NARROW(uint32_t, wide) break;
    default:
        memcpy(to, wide, n * sizeof *wide);
    }
}

/* A sum as it is in the type itself. */
static uint64_t wrapped(uint64_t x, ncclDataType_t type) {
    switch (type) {
    case ncclInt8:
        return (uint64_t)(int8_t)x;
    case ncclUint8:
        return (uint8_t)x;
    case ncclInt32:
        return (uint64_t)(int32_t)x;
    case ncclUint32:
        return (uint32_t)x;
    default:
        return x;
    }
}

/* ---- one more rank --------------------------------------------------------------------------- */

#define COMBINE(expression)                                                                        \
    for (size_t i = 0; i < n; i++) {                                                               \
        x[i] = (expression);                                                                       \
    }                                                                                              \
    break;

/* Of a number and a NaN, the C library's fmax() and fmin() take the number; so does NCCL. */
#define COMBINE_REALS(name, real, max, min)                                                        \
    static void name(real *x, const real *y, size_t n, ncclRedOp_t op) {                           \
        switch (op) {                                                                              \
        case ncclProd:                                                                             \
            COMBINE(x[i] * y[i])                                                                   \
        case ncclMax:                                                                              \
            COMBINE(max(x[i], y[i]))                                                               \
        case ncclMin:                                                                              \
            COMBINE(min(x[i], y[i]))                                                               \
        default:                                                                                   \
            COMBINE(x[i] + y[i])                                                                   \
        }                                                                                          \
    }
COMBINE_REALS(combine_floats, float, fmaxf, fminf)
COMBINE_REALS(combine_doubles, double, fmax, fmin)

static void combine_integers(uint64_t *x, const uint64_t *y, size_t n, ncclRedOp_t op,
                             bool with_sign) {
    /* With the upper bit turned over, numbers with a sign are in the order of those without. */
    uint64_t turn = with_sign ? (uint64_t)1 << 63 : 0;
    switch (op) {
    case ncclProd:
        COMBINE(x[i] * y[i])
    case ncclMax:
        COMBINE((x[i] ^ turn) > (y[i] ^ turn) ? x[i] : y[i])
    case ncclMin:
        COMBINE((x[i] ^ turn) < (y[i] ^ turn) ? x[i] : y[i])
    default:
        COMBINE(x[i] + y[i])
    }
}

/* ---- a block --------------------------------------------------------------------------------- */

/* Where element i of an array lies. */
static const void *at(const void *array, size_t i, ncclDataType_t type) {
    return (const char *)array + i * collective_type_bytes(type);
}

static void reduce_floats(void *out, const void *const in[], int ranks, size_t first, size_t n,
                          ncclDataType_t type, ncclRedOp_t op) {
    float x[BLOCK], y[BLOCK];
    widen_floats(x, at(in[0], first, type), n, type);
    for (int r = 1; r < ranks; r++) {
        widen_floats(y, at(in[r], first, type), n, type);
        combine_floats(x, y, n, op);
    }
    for (size_t i = 0; op == ncclAvg && i < n; i++) {
        x[i] /= (float)ranks;
    }
    narrow_floats(out, x, n, type);
}

static void reduce_doubles(void *out, const void *const in[], int ranks, size_t first, size_t n,
                           ncclRedOp_t op) {
    double x[BLOCK];
    memcpy(x, at(in[0], first, ncclFloat64), n * sizeof *x);
    for (int r = 1; r < ranks; r++) {
        combine_doubles(x, at(in[r], first, ncclFloat64), n, op);
    }
    for (size_t i = 0; op == ncclAvg && i < n; i++) {
        x[i] /= ranks;
    }
    memcpy(out, x, n * sizeof *x);
}

static void reduce_integers(void *out, const void *const in[], int ranks, size_t first, size_t n,
                            ncclDataType_t type, ncclRedOp_t op) {
    uint64_t x[BLOCK], y[BLOCK];
    bool with_sign = is_signed(type);
    widen_integers(x, at(in[0], first, type), n, type);
    for (int r = 1; r < ranks; r++) {
        widen_integers(y, at(in[r], first, type), n, type);
        combine_integers(x, y, n, op, with_sign);
    }
    for (size_t i = 0; op == ncclAvg && i < n; i++) {
        uint64_t sum = wrapped(x[i], type);
        x[i] = with_sign ? (uint64_t)((int64_t)sum / ranks) : sum / (uint64_t)ranks;
    }
    narrow_integers(out, x, n, type);
}

void collective_reduce(void *out, const void *const in[], int ranks, size_t count,
                       ncclDataType_t type, ncclRedOp_t op) {
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t n = count - first < BLOCK ? count - first : BLOCK;
        void *to = (void *)(uintptr_t)at(out, first, type);
        switch (type) {
        case ncclFloat16:
        case ncclFloat32:
        case ncclBfloat16:
            reduce_floats(to, in, ranks, first, n, type, op);
            break;
        case ncclFloat64:
            reduce_doubles(to, in, ranks, first, n, op);
            break;
        default:
            reduce_integers(to, in, ranks, first, n, type, op);
        }
    }
}
