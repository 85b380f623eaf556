/**
 * @file base.h
 * @brief What every op header starts from: CHECK, the storage type, how an op is declared.
 * @ingroup kernels
 *
 * The kernels are mathematics and nothing else: pointers and sizes in, numbers out. They allocate
 * nothing, keep no globals and read no files.
 */
#ifndef KERNELS_BASE_H
#define KERNELS_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Ends the program where the *caller* is wrong (a bad shape, a NULL, a wrong order of calls), in
 * every build. For what the outside world gets wrong, return an error instead.
 *
 *     CHECK(C % NH == 0, "C = %d is not a multiple of NH = %d", C, NH);
 */
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__);                             \
        }                                                                                          \
    } while (0)

/**
 * Prints `name.c:17: CHECK(condition) failed:` and the text on stderr, and aborts.
 *
 * @param file      source file of the CHECK
 * @param line      its line
 * @param condition its condition as written
 * @param format    printf format of the text, then its values
 */
#if defined __GNUC__
__attribute__((format(printf, 4, 5), noreturn, cold))
#endif
void check_failed(const char *file, int line, const char *condition, const char *format, ...);

/**
 * One number as it is *stored*: float, fp16 or bf16. Arithmetic is always in float.
 *
 * Outside of the ops its size is unknown on purpose (ask precision_bytes()): a `Real *` is a tensor
 * whose precision was chosen at run time, a `float *` is one that stays in float whatever the
 * precision. The compiler tells them apart. See kernels/real.h for the inside.
 */
typedef struct Real Real;

/** How a `Real` is stored. */
typedef enum Precision {
    F32,  /**< IEEE single, 4 bytes */
    F16,  /**< IEEE half, 2 bytes: 11 bits of significand, largest finite value 65504 */
    BF16, /**< bfloat16, 2 bytes: 8 bits of significand, the range of float */
} Precision;

/** Bytes of one stored number. */
static inline size_t precision_bytes(Precision precision) {
    return precision == F32 ? 4 : 2;
}

/** "f32", "f16" or "bf16". */
static inline const char *precision_name(Precision precision) {
    return precision == F32 ? "f32" : precision == F16 ? "f16" : "bf16";
}

/**
 * Memory that an op may borrow while it runs. The sizes come from workspace_bytes()
 * (kernels/ops.h); the contents mean nothing before or after the call.
 */
typedef struct Workspace {
    void *data;   /**< scratch memory on the op's device, aligned to 256 bytes */
    size_t bytes; /**< its size */
    int threads;  /**< CPU: the threads that share it; GPU: unused */
    void *blas;   /**< GPU: a cublasHandle_t; CPU: unused */
} Workspace;

/** Targets with this value take no part in the loss: padding, or text that is not to be learned. */
enum { IGNORE_INDEX = -100 };

/**
 * Declares one op for both devices and all three precisions. An op's header says once what it does,
 * as a function type; the sources define the functions as CPU(name) and GPU(name):
 *
 *     typedef void gelu_backward_fn(Real *din, const Real *dout, const Real *in, int N, int C);
 *     OP(gelu_backward);      // gelu_backward_cpu_f32, gelu_backward_gpu_f32, ..._f16, ..._bf16
 *
 * Where a contract does not say otherwise, no pointer is NULL, and what is written overlaps no
 * other argument. Tensors are in the memory of the op's device and begin at multiples of 16 bytes,
 * as those of memory_alloc() do; one with a float for each row may begin at any float, and so may
 * the factors and the result of a product without bias at any number. On the GPU a call returns at
 * once, and what it launches runs in the order of the calls, in the default stream.
 */
#define OP(name)                                                                                   \
    name##_fn name##_cpu_f32, name##_cpu_f16, name##_cpu_bf16;                                     \
    name##_fn name##_gpu_f32, name##_gpu_f16, name##_gpu_bf16

/** Declares an op that works on floats whatever the precision: `adamw_cpu`, `adamw_gpu`. */
#define FLOAT_OP(name) name##_fn name##_cpu, name##_gpu

#ifdef __cplusplus
}
#endif

#endif
