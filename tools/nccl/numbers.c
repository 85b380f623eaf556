#include "tools/nccl/numbers.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/half.h"

static const struct {
    const char *name;
    size_t bytes;
    double epsilon; /* of a type with fractions: half of it is the error of rounding to 1 */
} types[ncclNumTypes] = {
    [ncclInt8] = {"int8", 1, 0},
    [ncclUint8] = {"uint8", 1, 0},
    [ncclInt32] = {"int32", 4, 0},
    [ncclUint32] = {"uint32", 4, 0},
    [ncclInt64] = {"int64", 8, 0},
    [ncclUint64] = {"uint64", 8, 0},
    [ncclFloat16] = {"half", 2, 0x1p-10},
    [ncclFloat32] = {"float", 4, (double)FLT_EPSILON},
    [ncclFloat64] = {"double", 8, DBL_EPSILON},
    [ncclBfloat16] = {"bf16", 2, 0x1p-7},
};

const char *type_name(ncclDataType_t type) {
    return types[type].name;
}

const char *op_name(ncclRedOp_t op) {
    static const char *const names[] = {"sum", "prod", "max", "min", "avg"};
    return names[op];
}

size_t type_bytes(ncclDataType_t type) {
    return types[type].bytes;
}

bool type_is_real(ncclDataType_t type) {
    return types[type].epsilon > 0;
}

static bool has_sign(ncclDataType_t type) {
    return type_is_real(type) || type == ncclInt8 || type == ncclInt32 || type == ncclInt64;
}

/* ---- one number ------------------------------------------------------------------------------ */

static double number(Numbers numbers, ncclDataType_t type, int rank, size_t i) {
    if (numbers == NUMBERS_WHOLE) {
        return (double)((i * 7 + (size_t)rank * 13) % 11) - (has_sign(type) ? 5 : 0);
    }
    if (numbers == NUMBERS_FACTORS) {
        double factor = 1 + (double)((i + (size_t)rank) % 4 == 0);
        return has_sign(type) && (i + (size_t)rank) % 3 == 0 ? -factor : factor;
    }
    uint32_t hash = (uint32_t)i * 2654435761u + (uint32_t)rank * 40503u + 12345u;
    hash = (hash ^ hash >> 15) * 2246822519u;
    hash ^= hash >> 13;
    return (double)(hash >> 8) * 0x1p-23 - 1;
}

static void store(void *to, ncclDataType_t type, double x) {
    float f = (float)x;
    uint16_t narrow = type == ncclFloat16 ? half_from_float(f) : bf16_from_float(f);
    int64_t whole = type_is_real(type) ? 0 : (int64_t)x;
    const void *from = type == ncclFloat64   ? (const void *)&x
                       : type == ncclFloat32 ? (const void *)&f
                       : type_is_real(type)  ? (const void *)&narrow
                                             : (const void *)&whole;
    memcpy(to, from, types[type].bytes); /* of an integer the lowest bytes come first */
}

double number_value(const void *from, ncclDataType_t type) {
    union {
        int8_t i8;
        uint8_t u8;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        uint16_t narrow;
        float f32;
        double f64;
    } x;
    memcpy(&x, from, types[type].bytes);
    switch (type) {
    case ncclInt8:
        return x.i8;
    case ncclUint8:
        return x.u8;
    case ncclInt32:
        return x.i32;
    case ncclUint32:
        return x.u32;
    case ncclInt64:
        return (double)x.i64;
    case ncclUint64:
        return (double)x.u64;
    case ncclFloat16:
        return (double)half_to_float(x.narrow);
    case ncclBfloat16:
        return (double)bf16_to_float(x.narrow);
    case ncclFloat32:
        return (double)x.f32;
    default:
        return x.f64;
    }
}

void number_store(void *to, Numbers numbers, ncclDataType_t type, int rank, size_t i) {
    store(to, type, number(numbers, type, rank, i));
}

/* The number that a rank has sent, as the type has it. */
static double sent(Numbers numbers, ncclDataType_t type, int rank, size_t i) {
    char bits[8];
    number_store(bits, numbers, type, rank, i);
    return number_value(bits, type);
}

/* ---- all ranks ------------------------------------------------------------------------------- */

static double combine(double a, double b, ncclRedOp_t op) {
    return op == ncclProd ? a * b : op == ncclMax ? fmax(a, b) : op == ncclMin ? fmin(a, b) : a + b;
}

/* Floats are summed in float. Of two floats a sum or product in double is rounded to float as if
   it were exact; whole numbers are exact anyway. */
static double combine_as(double a, double b, ncclRedOp_t op, ncclDataType_t type) {
    double x = combine(a, b, op);
    return type_is_real(type) && type != ncclFloat64 ? (double)(float)x : x;
}

static double average_as(double sum, int ranks, ncclDataType_t type) {
    return !type_is_real(type)   ? trunc(sum / ranks)
           : type == ncclFloat64 ? sum / ranks
                                 : (double)((float)sum / (float)ranks);
}

Reduced number_reduced(Numbers numbers, ncclDataType_t type, ncclRedOp_t op, int ranks, size_t i) {
    double defined = sent(numbers, type, 0, i), exact = defined, size = fabs(defined);
    for (int r = 1; r < ranks; r++) {
        double x = sent(numbers, type, r, i);
        defined = combine_as(defined, x, op, type);
        exact = combine(exact, x, op);
        size += fabs(x);
    }
    if (op == ncclAvg) {
        defined = average_as(defined, ranks, type);
        exact = type_is_real(type) ? exact / ranks : trunc(exact / ranks);
    }
    double tiny = type == ncclFloat16 ? 0x1p-24 : 0; /* products may be subnormal */
    double scale = op == ncclProd ? fabs(exact) : op == ncclSum || op == ncclAvg ? size : 0;
    Reduced reduced = {.exact = exact, .error = ranks * types[type].epsilon * scale};
    reduced.error += op == ncclProd ? ranks * tiny : 0;
    store(reduced.bits, type, defined);
    return reduced;
}
