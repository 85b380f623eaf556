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
 * Functions with `model_` and a model work on model->pass. pass.h has the same for a pass that is
 * given, where there are several.
 */
#ifndef COMMON_MODEL_H
#define COMMON_MODEL_H

#include "common/params.h"
#include "common/pass.h"

/** The part of forward that backward runs again (lab 04); {0} for nothing. */
typedef struct Checkpoint {
    int segment;         /**< blocks between two kept inputs; 0 for no segments */
    bool attention_only; /**< the probabilities of attention, and nothing else */
} Checkpoint;

/**
 * The part of a model that is here, where several ranks have one together. model_whole() is all of
 * it, on one rank.
 */
typedef struct ModelPart {
    int first;      /**< the blocks of this stage of a pipeline: from this one */
    int last;       /**< to the one before this one */
    bool embedding; /**< whether WTE and WPE are here */
    bool head;      /**< whether WTE and the last layer norm are here */
    int shards;     /**< ranks that share each block, its heads and columns: params.h */
    int shard;      /**< which of them this is: the first adds the biases that all have whole */
    bool weights;   /**< false: weights are absent until model_put_weights() */
    bool grads;     /**< false: gradients are absent until model_put_grads() */
} ModelPart;

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
    Pass pass;               /**< the micro-batch in flight, where there is but one */
    Pass *newest;            /**< of the passes in flight, the one that began last; or NULL */
    ModelPart part;          /**< what of it is here */

    /** Adds up what the ranks that share a block have computed of it, each a part: in place, n
        numbers in storage precision, twice in a block's forward and twice in its backward. Needed
        where part.shards > 1; may be NULL otherwise. */
    void (*sum)(void *context, Real *x, size_t n);
    void *sum_context; /**< given to it */
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

/** All of a model: every block, embedding and head, unsharded, weights and gradients. */
ModelPart model_whole(const ModelConfig *config);

/**
 * A part of a model. Every parameter is described, with its shape in this part; weights and
 * gradients are allocated for what is here, and are zero.
 *
 * @param config the shape of the whole
 * @param part   what is here
 * @param memory as in model_new()
 * @param seed   of the dropout stream
 * @return as model_new()
 */
Model *model_new_part(const ModelConfig *config, const ModelPart *part, Memory *memory,
                      uint64_t seed);

/**
 * Fresh weights, for all that are here: those that model_new() gives a whole model of this shape.
 * Not for sharded blocks, whose weights are cut from whole ones.
 */
void model_init_weights(Model *model, uint64_t seed);

/**
 * Puts the weights of a block in place, or takes them away: for a part that has none of its own.
 * Using a weight that is not in place ends the program with the parameter's name.
 *
 * @param model   made with part.weights = false
 * @param layer   which block; -1 for the parameters outside of blocks
 * @param weights (BLOCK_PARAMS, or MODEL_PARAMS) device memory of the parameters' sizes, each at a
 *                multiple of 16 bytes, or NULL where one stays absent; borrowed. NULL takes all of
 *                them away
 */
void model_put_weights(Model *model, int layer, Real *const *weights);

/**
 * The same for gradients, to which backward adds: their owner sets them to zero before. They are
 * not in model->grads.
 */
void model_put_grads(Model *model, int layer, float *const *grads);

/**
 * A list of tensors of the shapes of the parameters, in their order. One that is NULL counts as
 * empty.
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

/** The parameter count: elements of all parameters together, here or not. */
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

/** Sets every gradient that is here to zero. */
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
