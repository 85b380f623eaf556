/**
 * @file ops.h
 * @brief The table of all ops: choosing a device and a precision is choosing one of these.
 * @ingroup kernels
 */
#ifndef KERNELS_OPS_H
#define KERNELS_OPS_H

#include <stdbool.h>

#include "kernels/adafactor.h"
#include "kernels/adam8.h"
#include "kernels/adamw.h"
#include "kernels/attention.h"
#include "kernels/axpby.h"
#include "kernels/cast.h"
#include "kernels/crossentropy.h"
#include "kernels/dropout.h"
#include "kernels/embedding.h"
#include "kernels/flash.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "kernels/matmul.h"
#include "kernels/residual.h"
#include "kernels/residual_norm.h"
#include "kernels/scale.h"
#include "kernels/sumsq.h"
#include "kernels/unscale.h"
#include "kernels/vocab.h"

/** The ops that exist once per precision. */
#define EACH_OP(X)                                                                                 \
    X(embedding_forward)                                                                           \
    X(embedding_backward)                                                                          \
    X(layernorm_forward)                                                                           \
    X(layernorm_backward)                                                                          \
    X(matmul_forward)                                                                              \
    X(matmul_backward)                                                                             \
    X(matmul_backward_first)                                                                       \
    X(attention_forward)                                                                           \
    X(attention_backward)                                                                          \
    X(flash_forward)                                                                               \
    X(flash_backward)                                                                              \
    X(gelu_forward)                                                                                \
    X(gelu_backward)                                                                               \
    X(dropout_forward)                                                                             \
    X(dropout_backward)                                                                            \
    X(residual_forward)                                                                            \
    X(residual_backward)                                                                           \
    X(residual_norm_forward)                                                                       \
    X(residual_norm_backward)                                                                      \
    X(axpby)                                                                                       \
    X(crossentropy_forward)                                                                        \
    X(crossentropy_backward)                                                                       \
    X(vocab_ids)                                                                                   \
    X(vocab_max)                                                                                   \
    X(vocab_sum)                                                                                   \
    X(vocab_loss)                                                                                  \
    X(vocab_backward)                                                                              \
    X(cast_from_float)                                                                             \
    X(cast_to_float)

/** The ops on floats, the same for every precision. */
#define EACH_FLOAT_OP(X)                                                                           \
    X(adamw)                                                                                       \
    X(adam8)                                                                                       \
    X(adafactor)                                                                                   \
    X(sumsq)                                                                                       \
    X(scale)                                                                                       \
    X(unscale)

/** Function pointers, every one filled; each is described where its op is declared. */
typedef struct Ops {
/** @cond */
#define FIELD(op) op##_fn *op;
    EACH_OP(FIELD)
    EACH_FLOAT_OP(FIELD)
#undef FIELD
    /** @endcond */
} Ops;

/** The CPU's ops, by precision: `&ops_cpu[F16]`. */
extern const Ops ops_cpu[3];

/** The GPU's ops, by precision: `&ops_gpu[BF16]`. Not in libkit.a: labs write some of them. */
extern const Ops ops_gpu[3];

/**
 * Bytes of workspace that the CPU's ops need for one step of a model of this shape.
 *
 * @param precision storage type
 * @param T         tokens per sequence
 * @param C         channels
 * @param NH        heads
 * @param length    of the flat index of its parameters (params_length())
 * @param threads   threads that share the work
 */
size_t ops_workspace_cpu(Precision precision, int T, int C, int NH, size_t length, int threads);

/**
 * Bytes of workspace that the GPU's ops need for one step of a model of this shape, whatever B is.
 *
 * @param T         tokens per sequence
 * @param C         channels
 * @param NH        heads
 * @param length    of the flat index of its parameters (params_length())
 * @param plain     attention with a (T, T) matrix for each head; else flash attention
 */
size_t ops_workspace_gpu(int T, int C, int NH, size_t length, bool plain);

#endif
