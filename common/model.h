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
 * A model with adapters (ModelConfig.adapter) has two lists of parameters: `base`, those of the
 * GPT-2, which are frozen, and `params`, those that are trained. All that goes over what is trained
 * (norm, clipping, optimizer, loss scaler, ranks) takes `params` and needs to know no more.
 *
 * Functions with `model_` and a model work on model->pass. pass.h has the same for a pass that is
 * given, where there are several.
 */
#ifndef COMMON_MODEL_H
#define COMMON_MODEL_H

#include "common/params.h"
#include "common/pass.h"

/** A linear layer of a block in a pass (common/linear.h). */
typedef struct Linear Linear;

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
    int first;       /**< the blocks of this stage of a pipeline: from this one */
    int last;        /**< to the one before this one */
    bool embedding;  /**< whether WTE and WPE are here */
    bool head;       /**< whether WTE and the last layer norm are here */
    int shards;      /**< ranks that share each block, its heads and columns: params.h */
    int shard;       /**< which of them this is */
    int vocab_first; /**< the rows of WTE that are here: from this one */
    int vocab_rows;  /**< their number; all V, unless ranks share the vocabulary */
    bool weights;    /**< false: weights are absent until model_put_weights() */
    bool grads;      /**< false: gradients are absent until model_put_grads() */
} ModelPart;

/** A model on a device. */
typedef struct Model {
    ModelConfig config;      /**< its shape */
    Memory *memory;          /**< where its tensors come from; borrowed */
    Device *device;          /**< the device of that memory */
    const Ops *ops;          /**< the device's ops in the model's precision */
    Param *params;           /**< (param_count) those that are trained, in the order of params.h */
    int param_count;         /**< how many */
    Param *base;             /**< (base_count) those of the GPT-2: `params`, or else frozen */
    int base_count;          /**< how many */
    TensorList grads;        /**< all gradients, in the order of params: for ops on all of them */
    Workspace workspace;     /**< scratch memory of the ops */
    float *result;           /**< device memory for one float: a norm on its way to the host */
    Rng rng;                 /**< dropout masks are drawn from here */
    Checkpoint checkpoint;   /**< what backward runs again; nothing unless set */
    uint64_t block_forwards; /**< how often a block ran forward while training, since model_new() */
    Pass pass;               /**< the micro-batch in flight, where there is but one */
    Pass *newest;            /**< of the passes in flight, the one that began last; or NULL */
    ModelPart part;          /**< what of it is here */
    float *unread;           /**< (2, C) where the gradients of frozen layer norms go, which nobody
                                  reads; NULL where nothing is frozen */

    /** Forward and backward of a linear layer that has an adapter, or of which several ranks have a
        part each (linear.h); set by the program that knows how. NULL for the layer alone. */
    void (*linear_forward)(Linear *linear, Real *out, const Real *in);
    /** Its other half. */
    void (*linear_backward)(const Linear *linear, Real *din, const Real *dout, const Real *in);
    unsigned dropped; /**< 1 << LinearId for each layer whose input no backward will read: it is
                           gone when the layer has run */

    /** Of the program that has set how the ranks share blocks: whom they are shared with. NULL
        where each block is whole. */
    void *split;
    /** The embedding, where another stands in for the kit's, since ranks share the vocabulary:
        writes `x` (B, T, C), before dropout. NULL for the kit's. */
    void (*embed_forward)(Pass *pass, Real *x);
    /** Its other half: adds to the gradients, from pass->dx, after dropout. */
    void (*embed_backward)(Pass *pass);

    /** pass_head_forward() and pass_head_backward(), where another head stands in for the kit's
        (lab 09): it fills pass->head, and gives its loss by pass_losses(). NULL for the kit's. */
    double (*head_forward)(Pass *pass, const Real *x);
    /** Its other half. */
    void (*head_backward)(Pass *pass, const Real *x, float dloss);

    /** model_forward_blocks() of a pass that trains, where another decides what is kept. NULL for
        everything. */
    Real *(*forward_blocks)(Pass *pass, int first, int last, Real *x);
    /** Its other half. */
    void (*backward_blocks)(Pass *pass, int first, int last, Real *dx);

    /** Around each part of a pass, before it runs and after: the embedding (layer -1), a block, the
        head (layer L), forward or backward; a block that runs again runs forward again. For those
        who bring weights and take gradients away. NULL for nobody. */
    void (*enter)(void *context, int layer, bool backward);
    /** Its other half: backward has added to the gradients of that part. Those of the embedding's
        matrix are complete after layer -1 alone, since the head adds to them, too. */
    void (*leave)(void *context, int layer, bool backward);
    void *parts_context; /**< given to both */

    /** model_grad_norm(), where gradients of other ranks count too. NULL for those here alone. */
    float (*grad_norm)(struct Model *model);
    void *norm_context; /**< of who has set it */

    Model *pieces;        /**< this rank's pieces of the parameters (pieces.h), or NULL */
    Model *offloaded;     /**< of pieces: their copy in host memory (offloaded.h), or NULL */
    Model *mirrors;       /**< of such a copy: the pieces on the device; else NULL */
    const size_t *places; /**< (param_count) of a model of pieces: flat index of each; else NULL */
    size_t length;        /**< of that flat index */

    bool fused_norm; /**< attention's residual and the second norm: kernels/residual_norm.h */

    /** Takes the losses of a pass, pass->head.losses, where they cannot go to the host at once:
        in a captured step (common/capture.h). NULL for nobody. */
    void (*take_losses)(void *context, const Pass *pass);
    void *losses_context;         /**< given to it */
    const uint64_t *dropout_base; /**< Dropout.base of all masks; NULL outside of a captured step */
} Model;

/**
 * A model with fresh weights; gradients are zero. The matrices of adapters are zero too.
 *
 * @param config a shape that config_check() accepts
 * @param memory where weights (those of adapters last), gradients and workspace are allocated, in
 *               this order; borrowed
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
 * Not for adapters. Not for sharded blocks, whose weights are cut from whole ones.
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
    return model->base + MODEL_PARAMS + (size_t)layer * BLOCK_PARAMS;
}

/**
 * The adapter of a linear layer: its matrix A, and after it B. NULL where it has none.
 */
Param *model_adapter(const Model *model, int layer, LinearId id);

/** The parameter count: elements of all that is trained, here or not. */
size_t model_param_elements(const Model *model);

/**
 * Copies a parameter to the host as floats.
 *
 * @param      model the model
 * @param      param one of model->params
 * @param[out] to    (param->count) host memory
 */
void model_download_weight(const Model *model, const Param *param, float *to);

/**
 * Sets a parameter from floats in host memory, rounded to the storage type. Of one that is absent,
 * the piece that model->pieces has.
 */
void model_upload_weight(Model *model, Param *param, const float *from);

/**
 * Where the backward of a layer norm adds the gradient of its scale or its bias: the op wants a
 * place for both, so for a frozen one it is a place that nobody reads.
 */
float *model_norm_grad(const Model *model, const Param *param);

/** Sets every gradient that is here to zero. */
void model_zero_grad(Model *model);

/** Multiplies every gradient by a number. */
void model_scale_grad(Model *model, float factor);

/** Square root of the sum of squares of all gradients; of those of all ranks, where
 * model->grad_norm knows how. Waits for the device. */
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
