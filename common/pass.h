/**
 * @file pass.h
 * @brief A pass over one micro-batch: whole, a range of blocks, or block by block.
 * @ingroup common
 *
 * A model has a pass of its own, `model->pass`, and the functions of model.h and block.h that take
 * a model work on it. Those here take the pass itself, since several may be under way at once: the
 * micro-batches in flight of a pipeline. Each then has a lane of memory (memory.h), for their
 * tensors come and go in an order of their own:
 *
 *     Pass pass = pass_new(model, memory_lane(model->memory, "micro-batch 1"), NULL);
 *     double loss = pass_forward(&pass, &batch);          // as model_forward()
 *     pass_backward(&pass, 1.0f / (float)batch.valid);    // as model_backward()
 *     pass_free(&pass);
 *
 * A stage of a pipeline runs some of the blocks, from an input that it was given to an output that
 * it hands on, and the way back with gradients:
 *
 *     pass_begin(&pass, &batch, true);
 *     Real *out = model_forward_blocks(&pass, first, last, in);
 *     ...                                                  // other passes; then, in pass.dx, dout
 *     model_backward_blocks(&pass, first, last, pass.dx);  // now pass.dx is din
 *     pass_end(&pass);
 *
 * Passes of one model share its gradients, to which each backward adds, and its workspace: their
 * ops run one after the other, in the order of the calls.
 */
#ifndef COMMON_PASS_H
#define COMMON_PASS_H

#include "common/data.h"
#include "common/memory.h"
#include "common/rng.h"

/** A model on a device (common/model.h). */
typedef struct Model Model;

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
    Model *model;           /**< whose blocks it runs; borrowed */
    Memory *memory;         /**< where its tensors come from: the model's memory or a lane of it */
    Rng *rng;               /**< dropout masks are drawn from here; borrowed */
    bool active;            /**< between pass_begin() and pass_end() */
    bool train;             /**< dropout is on, and a backward will follow */
    int B;                  /**< sequences */
    int T;                  /**< tokens per sequence */
    MemoryMark mark;        /**< the stack below the pass */
    const int32_t *tokens;  /**< (B, T) device memory; NULL where the batch has none */
    const int32_t *targets; /**< (B, T) device memory; NULL where the batch has none */
    Real *dx;               /**< (B, T, C) gradient of the residual stream; NULL unless training */
    Dropout embedding_dropout; /**< the mask after the embedding */
    Head head;                 /**< valid between head forward and head backward */
    Real **x;                  /**< (L + 1) input of each block, output of the last that ran */
    Block *blocks;             /**< (L) what each block kept */
    MemoryMark *marks;         /**< (L) the stack below each block's output */
    Rng *rngs;                 /**< (L) for lab 04: the dropout stream where a segment began */
    double loss;               /**< sum of the losses of the valid targets, nats */
    struct Pass *before;       /**< the pass of this model that began before it and is in flight */
    Real *input;    /**< (B, T, C) of block 0, in a pass over blocks alone (range.h), which has
                         neither embedding nor head; NULL in others */
    Real *gradient; /**< (B, T, C) of such a pass: dx, not allocated; NULL in others */
    void *kept;     /**< of who has set model->forward_blocks, for backward; or NULL */
} Pass;

/**
 * A pass that has not begun. It can be begun and ended any number of times; while it is in flight
 * it must stay where it is.
 *
 * @param model  borrowed
 * @param memory for its tensors: model->memory, or a lane of it where another pass may be in flight
 *               at the same time; borrowed
 * @param rng    where dropout masks are drawn; borrowed. NULL for model->rng
 * @return to be given to pass_free() before the model is freed
 */
Pass pass_new(Model *model, Memory *memory, Rng *rng);

/** Frees the host side of a pass that is not in flight. */
void pass_free(Pass *pass);

/**
 * Begins a pass: takes the batch to the device. With `train`, dropout is on, and the residual
 * stream's gradient is allocated below all that follows.
 *
 * @param pass  not in flight
 * @param batch B >= 1, 1 <= T <= config.T, tokens in [0, V); one that is on the device stays there,
 *              and is needed until the pass ends. `tokens` may be NULL where no embedding will run,
 *              `targets` where no head will
 * @param train whether backward will follow
 */
void pass_begin(Pass *pass, const Batch *batch, bool train);

/**
 * Ends the pass and releases all its memory. Passes that began later on the same stack have ended:
 * this, and backward too, would release their tensors.
 */
void pass_end(Pass *pass);

/** Forward, as model_forward(). */
double pass_forward(Pass *pass, const Batch *batch);

/** Backward of the pass, as model_backward(). */
void pass_backward(Pass *pass, float dloss);

/**
 * Forward of the blocks first ... last - 1. Where the pass trains, it keeps what backward needs;
 * else nothing, and `x` is used up.
 *
 * @param pass  in flight
 * @param first the first block
 * @param last  the block after the last one; `first` gives back `x`
 * @param x     (B, T, C) input of block `first`, on the device; where the pass trains, unchanged,
 *              and needed until backward is through
 * @return (B, T, C) output of block `last - 1`, on the pass's stack
 */
Real *model_forward_blocks(Pass *pass, int first, int last, Real *x);

/**
 * Backward of the same blocks: adds to the gradients of their parameters, turns the gradient of
 * their output into that of their input, and releases all that forward has put on the pass's stack
 * for these blocks, their output too, and all that lies above it.
 *
 * @param         pass  in flight, after model_forward_blocks(), and after the backward of all that
 *                      ran after these blocks
 * @param         first the first block
 * @param         last  the block after the last one
 * @param[in,out] dx    (B, T, C) on the device and below the blocks on the stack, such as pass->dx
 */
void model_backward_blocks(Pass *pass, int first, int last, Real *dx);

/** Calls model->enter, if there is one: for the parts of a pass. */
void pass_enter(const Pass *pass, int layer, bool backward);

/** Calls model->leave, if there is one. */
void pass_leave(const Pass *pass, int layer, bool backward);

/** Embedding and its dropout. @return (B, T, C), a new activation on top of the stack */
Real *pass_embed(Pass *pass);

/** Backward of the embedding from pass->dx, which is used up. */
void pass_embed_backward(Pass *pass);

/** A place for the output of block `layer`. @return (B, T, C), a new activation, undefined */
Real *pass_boundary(Pass *pass, int layer);

/**
 * The sum of pass->head.losses (B, T), in nats: for a head. The host waits for the device. In a
 * captured step, which model->take_losses tells, nothing has been computed yet, and it is 0.
 */
double pass_losses(Pass *pass);

/** Last layer norm, logits, losses, as model_head_forward(). */
double pass_head_forward(Pass *pass, const Real *x);

/** Backward of the head into pass->dx, as model_head_backward(). */
void pass_head_backward(Pass *pass, const Real *x, float dloss);

/**
 * The mask of a dropout call over n elements, drawn from pass->rng; one with p = 0, and nothing
 * drawn, where the pass does not train or the model has no dropout.
 */
Dropout pass_draw_dropout(Pass *pass, size_t n);

/** The same with a probability of its own, as the branch of an adapter has. */
Dropout pass_draw_mask(Pass *pass, size_t n, float p);

/**
 * Moves the dropout stream on past masks that other stages draw, so that each stage has the masks
 * of the whole model. In a pass with dropout the embedding draws one mask, then each block two.
 *
 * @param pass  in flight
 * @param masks of (B, T, C) elements each
 */
void pass_skip_masks(Pass *pass, int masks);

/** Loss without dropout, and without a trace, as model_evaluate(). */
double pass_evaluate(Pass *pass, const Batch *batch);

/** Logits after the last token of each sequence, as model_next_logits(). */
void pass_next_logits(Pass *pass, const Batch *batch, float *logits);

#endif
