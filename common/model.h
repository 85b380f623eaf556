/**
 * @file model.h
 * @brief A GPT-2: parameters, and a pass over one micro-batch, whole or block by block.
 * @ingroup common
 *
 * The whole:
 *
 *     double loss = model_forward(model, &batch);          // a sum over the valid targets
 *     model_backward(model, 1.0f / (float)batch.valid);    // gradients of their mean are added
 *
 * and what it is made of, for those who want to keep less than everything:
 *
 *     model_begin(model, &batch, true);
 *     x[0] = model_embed(model);
 *     x[l + 1] = model_boundary(model, l), block_forward(model, l, x[l + 1], x[l], &block[l])
 *     model_head_forward(model, x[L]), model_head_backward(model, x[L], dloss)
 *     block_backward(model, l, model->pass.dx, x[l], &block[l])
 *     model_embed_backward(model);
 *     model_end(model);
 *
 * Tensors of a pass are released in the opposite order of their allocation; block.h has the blocks.
 */
#ifndef COMMON_MODEL_H
#define COMMON_MODEL_H

#include "common/data.h"
#include "common/memory.h"
#include "common/params.h"
#include "common/rng.h"

/** The part of forward that backward runs again (lab 04); {0} for nothing. */
typedef struct Checkpoint {
    int segment;         /**< blocks between two kept inputs; 0 for no segments */
    bool attention_only; /**< the probabilities of attention, and nothing else */
} Checkpoint;

/** The tensors that a block keeps (common/block.h). */
typedef struct Block Block;

/** The tensors that the head keeps: the last layer norm, the logits, the losses. */
typedef struct Head {
    MemoryMark mark; /**< the stack below the head */
    Real *lnf;       /**< (B, T, C) */
    float *mean;     /**< (B, T) */
    float *rstd;     /**< (B, T) */
    Real *logits; /**< (B, T, V), rows logits_stride(V) apart; backward makes them their gradient */
    float *losses; /**< (B, T) nats */
    float *lse;    /**< (B, T) */
} Head;

/** One micro-batch on its way forward and backward. */
typedef struct Pass {
    bool active;      /**< between model_begin() and model_end() */
    bool train;       /**< dropout is on, and a backward will follow */
    int B;            /**< sequences */
    int T;            /**< tokens per sequence */
    MemoryMark mark;  /**< the stack below the pass */
    int32_t *tokens;  /**< (B, T) device memory */
    int32_t *targets; /**< (B, T) device memory */
    Real *dx;         /**< (B, T, C) gradient of the residual stream; NULL unless training */
    Dropout embedding_dropout; /**< the mask after the embedding */
    Head head;                 /**< valid between head forward and head backward */
    Real **x;                  /**< (L + 1) plain pass: input of each block, output of the last */
    Block *blocks;             /**< (L) plain pass: what each block kept */
    MemoryMark *marks;         /**< (L) plain pass: the stack below each block's output */
    Rng *rngs;                 /**< (L) for lab 04: the dropout stream where a segment began */
    double loss;               /**< sum of the losses of the valid targets, nats */
} Pass;

/** A model on a device. */
typedef struct Model {
    ModelConfig config;      /**< its shape */
    Memory *memory;          /**< where its tensors come from; borrowed */
    Device *device;          /**< the device of that memory */
    const Ops *ops;          /**< the device's ops in the model's precision */
    Param *params;           /**< (param_count) in the order of params.h */
    int param_count;         /**< how many */
    TensorList grads;        /**< all gradients, in the order of params: for ops on all of them */
    Workspace workspace;     /**< scratch memory of the ops */
    float *result;           /**< device memory for one float: a norm on its way to the host */
    Rng rng;                 /**< dropout masks are drawn from here */
    Checkpoint checkpoint;   /**< what backward runs again; nothing unless set */
    uint64_t block_forwards; /**< how often a block ran forward while training, since model_new() */
    Pass pass;               /**< the micro-batch in flight */
} Model;

/**
 * A model with fresh weights; gradients are zero.
 *
 * @param config a shape that config_check() accepts
 * @param memory where weights, gradients and workspace are allocated, in this order; borrowed
 * @param seed   of the weights and of the dropout stream
 * @return to be given to model_free() before anything below it on the stack is released
 */
Model *model_new(const ModelConfig *config, Memory *memory, uint64_t seed);

/** The same with weights of 0: for counting bytes, which do not depend on them. */
Model *model_new_zero(const ModelConfig *config, Memory *memory);

/**
 * A list of tensors of the shapes of the parameters, in their order.
 *
 * @param      model the model
 * @param      data  (param_count) the tensors, device memory
 * @param[out] entry workspace_list_bytes() of device memory, which the list borrows
 */
TensorList model_list(const Model *model, float *const *data, void *entry);

/** Frees the host side; device memory goes with the stack. NULL is fine. */
void model_free(Model *model);

/** The parameters of block `layer`, to be indexed by BlockParamId. */
static inline Param *model_block_params(const Model *model, int layer) {
    return model->params + MODEL_PARAMS + (size_t)layer * BLOCK_PARAMS;
}

/** The parameter count: elements of all parameters together. */
size_t model_param_elements(const Model *model);

/**
 * Copies a parameter to the host as floats.
 *
 * @param      model the model
 * @param      param one of model->params
 * @param[out] to    (param->count) host memory
 */
void model_download_weight(const Model *model, const Param *param, float *to);

/** Sets a parameter from floats in host memory, rounded to the storage type. */
void model_upload_weight(Model *model, Param *param, const float *from);

/** Sets every gradient to zero. */
void model_zero_grad(Model *model);

/** Multiplies every gradient by a number. */
void model_scale_grad(Model *model, float factor);

/** Square root of the sum of squares of all gradients. Waits for the device. */
float model_grad_norm(Model *model);

/**
 * Forward: keeps what backward needs, or, where the pass is only a look, use model_evaluate().
 *
 * @param model the model; no pass may be in flight
 * @param batch host memory; B >= 1, 1 <= T <= config.T, tokens in [0, V)
 * @return sum of the losses of the valid targets, in nats (not their mean: 0 if there is none)
 */
double model_forward(Model *model, const Batch *batch);

/**
 * Backward of the pass in flight: adds to every gradient, then ends the pass and releases its
 * memory.
 *
 * @param model the model, after model_forward()
 * @param dloss the weight of each valid target's loss: 1 / (valid targets) gives the gradient of
 *              the mean of this batch
 */
void model_backward(Model *model, float dloss);

/** Loss as model_forward() gives it, without dropout, and without a trace. */
double model_evaluate(Model *model, const Batch *batch);

/**
 * Logits after the last token of each sequence, without dropout.
 *
 * @param      model  the model; no pass may be in flight
 * @param      batch  host memory; the targets may all be IGNORE_INDEX
 * @param[out] logits (B, V) host memory
 */
void model_next_logits(Model *model, const Batch *batch, float *logits);

/**
 * Begins a pass: takes the batch to the device. With `train`, dropout is on, and the residual
 * stream's gradient is allocated below all that follows.
 */
void model_begin(Model *model, const Batch *batch, bool train);

/** Embedding and its dropout. @return (B, T, C), a new activation on top of the stack */
Real *model_embed(Model *model);

/**
 * The mask of a dropout call over n elements, drawn from model->rng; one with p = 0, and nothing
 * drawn, where the pass does not train or the model has no dropout.
 */
Dropout model_draw_dropout(Model *model, size_t n);

/** A place for the output of block `layer`. @return (B, T, C), a new activation, undefined */
Real *model_boundary(Model *model, int layer);

/**
 * Last layer norm, logits, losses; keeps them on the stack.
 *
 * @param     model the model
 * @param[in] x     (B, T, C) output of the last block
 * @return sum of the losses of the valid targets, in nats; also in pass.loss
 */
double model_head_forward(Model *model, const Real *x);

/**
 * Backward of the head: adds to the gradients of the embedding and the last layer norm, writes the
 * gradient of `x` into pass.dx, and releases what the head kept.
 */
void model_head_backward(Model *model, const Real *x, float dloss);

/** Backward of the embedding from pass.dx, which is used up. */
void model_embed_backward(Model *model);

/** Ends the pass and releases all its memory. */
void model_end(Model *model);

#endif
