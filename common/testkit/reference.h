/**
 * @file reference.h
 * @brief The whole model once more, in double and plain loops: what everything is measured against.
 * @ingroup grader
 *
 * No line is shared with kernels/, except for the random words of a dropout mask, which are a
 * definition and not a computation. Slow on purpose: read it to know what is meant. It lives in
 * judges and tests, never in a process that runs a student's code.
 */
#ifndef COMMON_TESTKIT_REFERENCE_H
#define COMMON_TESTKIT_REFERENCE_H

#include "common/data.h"
#include "common/params.h"
#include "kernels/dropout.h"

/* ---- ops ------------------------------------------------------------------------------------- */

/* Shapes as in the header of the op of the same name; all memory is the host's. Forward writes,
   backward adds. */

/** out (B, T, C) = wte[tokens] + wpe */
void reference_embedding_forward(double *out, const int32_t *tokens, const double *wte,
                                 const double *wpe, int B, int T, int C);
/** Adds to dwte (V, C) and dwpe (T, C). */
void reference_embedding_backward(double *dwte, double *dwpe, const double *dout,
                                  const int32_t *tokens, int B, int T, int C);
/** out, mean, rstd from in (N, C). */
void reference_layernorm_forward(double *out, double *mean, double *rstd, const double *in,
                                 const double *weight, const double *bias, int N, int C);
/** Adds to din (N, C), dweight (C), dbias (C). */
void reference_layernorm_backward(double *din, double *dweight, double *dbias, const double *dout,
                                  const double *in, const double *mean, const double *rstd,
                                  const double *weight, int N, int C);
/** out (N, OC) = in (N, C) weight^T + bias; bias may be NULL. */
void reference_matmul_forward(double *out, const double *in, const double *weight,
                              const double *bias, int N, int C, int OC);
/** Adds to din (N, C), dweight (OC, C), dbias (OC); any may be NULL. */
void reference_matmul_backward(double *din, double *dweight, double *dbias, const double *dout,
                               const double *in, const double *weight, int N, int C, int OC);
/** out (B, T, C), probs (B, NH, T, T) from qkv (B, T, 3C). */
void reference_attention_forward(double *out, double *probs, const double *qkv, int B, int T, int C,
                                 int NH);
/** Adds to dqkv (B, T, 3C). */
void reference_attention_backward(double *dqkv, const double *dout, const double *probs,
                                  const double *qkv, int B, int T, int C, int NH);
/** out (n) = gelu(in), tanh form. */
void reference_gelu_forward(double *out, const double *in, size_t n);
/** Adds dout * gelu'(in) to din (n). */
void reference_gelu_backward(double *din, const double *dout, const double *in, size_t n);
/** factor (n): 0 or 1 / (1 - p), as dropout.h defines the mask. */
void reference_dropout_factors(double *factor, size_t n, Dropout dropout);
/** losses (N); returns their sum. probs (N, V) are kept for backward. */
double reference_crossentropy_forward(double *losses, double *probs, const double *logits,
                                      const int32_t *targets, int N, int V);
/** Adds to dlogits (N, V). */
void reference_crossentropy_backward(double *dlogits, const double *probs, const int32_t *targets,
                                     double dloss, int N, int V);
/** One AdamW update of n numbers; t from 1 on. */
void reference_adamw(double *weight, double *m, double *v, const double *grad, size_t n, double lr,
                     double beta1, double beta2, double epsilon, double weight_decay, int t);

/* ---- model ----------------------------------------------------------------------------------- */

/** A model in double. */
typedef struct Reference {
    ModelConfig config; /**< precision and attention make no difference here */
    int param_count;    /**< as params_count() */
    Param *params;      /**< names and shapes; no device memory */
    double **weight;    /**< (param_count) host memory */
    double **grad;      /**< (param_count) host memory, added to */
    double smallest;    /**< of all activation gradients so far that are not 0, by absolute value */
    double largest;     /**< of the same; see reference_zero_grad() */
} Reference;

/** A reference with zero weights and gradients, to be given to reference_free(). */
Reference *reference_new(const ModelConfig *config);

/** NULL is fine. */
void reference_free(Reference *reference);

/** Sets all gradients to zero, and forgets how small and large activation gradients were. */
void reference_zero_grad(Reference *reference);

/**
 * Forward, and backward where dloss is not 0: adds to the gradients, and looks at each activation
 * gradient that a model in half would store, which shows the ones that do not fit.
 *
 * @param reference the model
 * @param batch     tokens and targets
 * @param dloss     what each valid target's loss counts
 * @param seed      of the dropout stream
 * @param offset    counters of the stream that were drawn before; ignored without dropout
 * @return sum of the losses of the valid targets
 */
double reference_pass(Reference *reference, const Batch *batch, double dloss, uint64_t seed,
                      uint64_t offset);

/** Elements of all parameters. */
size_t reference_elements(const Reference *reference);

/** The factor that brings gradients of that norm down to `limit`; 1 if they are below, or if limit
    is 0. */
double reference_clip(double norm, double limit);

/** Counters that a pass over N tokens takes from the dropout stream. */
uint64_t reference_pass_counters(const ModelConfig *config, int N);

#endif
