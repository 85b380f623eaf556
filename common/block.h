/**
 * @file block.h
 * @brief One transformer block: forward, and backward from what forward kept.
 * @ingroup common
 *
 *     mid = in  + dropout(attention(ln_1(in)))
 *     out = mid + dropout(mlp(ln_2(mid)))
 *
 * The input of a linear layer that nobody needs any more when the layer has run (model->dropped) is
 * not kept: forward allocates it on top of the stack and releases it.
 *
 * A block can be run by itself, as often as one likes: that is what gradient checkpointing does.
 *
 * Its heads and columns are those of its parameters. Where ranks share a block, each has some of
 * them; its linear layers make the whole of their parts (linear.h).
 */
#ifndef COMMON_BLOCK_H
#define COMMON_BLOCK_H

#include "common/linear.h"

/** How much of a block is on this rank. */
typedef struct BlockSize {
    int heads; /**< attention heads: NH, or a rank's share of them */
    int A;     /**< channels of these heads: C, or heads * C / NH */
    int F;     /**< columns of the MLP: 4C, or a share of them */
} BlockSize;

/** The size of block `layer`, as the shapes of its parameters have it. */
BlockSize block_size(const Model *model, int layer);

/**
 * The tensors that a block keeps between forward and backward. Input and output are not among them;
 * they belong to the caller.
 */
struct Block {
    BlockSize size;  /**< of the block that they are for */
    Real *ln1;       /**< (B, T, C) first layer norm; NULL if model->dropped has LINEAR_QKV */
    float *ln1_mean; /**< (B, T) */
    float *ln1_rstd; /**< (B, T) */
    Real *qkv;       /**< (B, T, 3A) queries, keys, values */
    Real *probs;     /**< (B, heads, T, T) with ATTENTION_PLAIN, else NULL; may be dropped */
    float *lse;      /**< (B, heads, T) with ATTENTION_FLASH, else NULL */
    Real *attention; /**< (B, T, A) heads side by side; NULL likewise, with LINEAR_PROJ */
    Real *mid;       /**< (B, T, C) residual stream between attention and MLP */
    Real *ln2;       /**< (B, T, C) second layer norm; NULL likewise, with LINEAR_FC */
    float *ln2_mean; /**< (B, T) */
    float *ln2_rstd; /**< (B, T) */
    Real *fc;        /**< (B, T, F) before GELU, bias included */
    Real *gelu;      /**< (B, T, F) after GELU; NULL likewise, with LINEAR_FCPROJ */
    Dropout attention_dropout;              /**< the mask that forward drew for the first branch */
    Dropout mlp_dropout;                    /**< the mask of the second */
    Dropout adapter_dropout[BLOCK_LINEARS]; /**< the masks of the branches of adapters */
};

/**
 * Allocates what a block keeps, for the batch of the present pass.
 *
 * @param model the model, between model_begin() and model_end()
 * @param layer for which block
 * @return tensors on top of the stack, activations, content undefined
 */
Block block_alloc(Model *model, int layer);

/** The same without the probabilities of attention: block.probs is NULL. */
Block block_alloc_without_probs(Model *model, int layer);

/**
 * Allocates the probabilities that block_alloc_without_probs() left out. Does nothing where
 * attention keeps none (ATTENTION_FLASH).
 *
 * @param         model the model, between model_begin() and model_end()
 * @param         layer for which block
 * @param[in,out] block gets block->probs: on top of the stack, content undefined. Who releases them
 *                      sets block->probs to NULL again
 */
void block_alloc_probs(Model *model, int layer, Block *block);

/**
 * Fills block->probs once more, from the queries and keys that the block has kept: the same bits as
 * in block_forward(). Counts as no run of a block. Does nothing with ATTENTION_FLASH.
 *
 * @param         model the model, between model_begin() and model_end()
 * @param[in,out] block as filled by forward; probs from block_alloc_probs()
 */
void block_recompute_probs(Model *model, Block *block);

/**
 * Runs a block. Draws two dropout masks from model->rng if the model trains with dropout.
 *
 * A block that runs again for its backward alone may be run without its output: where `out` is
 * NULL, `block` is filled and the masks are drawn as ever, and the last product is left out, for
 * what backward needs of it is its input.
 *
 * @param         model the model, between model_begin() and model_end()
 * @param         layer which block
 * @param[out]    out   (B, T, C); may be `in` where no backward will need that; NULL where nothing
 *                      will read it
 * @param[in]     in    (B, T, C)
 * @param[in,out] block from block_alloc(), probabilities included; filled
 */
void block_forward(Model *model, int layer, Real *out, const Real *in, Block *block);

/**
 * Runs a block backward: adds to the gradients of its parameters and turns the gradient of its
 * output into that of its input.
 *
 * @param         model the model, between model_begin() and model_end()
 * @param         layer which block
 * @param[in,out] dx    (B, T, C) gradient of the block's output; on return, of its input
 * @param[in]     in    (B, T, C) as given to forward
 * @param[in]     block as filled by forward, probabilities included
 */
void block_backward(Model *model, int layer, Real *dx, const Real *in, const Block *block);

/* ---- the same for a pass that is given ------------------------------------------------------ */

/** block_alloc() on the pass's memory, for its batch. */
Block pass_block_alloc(Pass *pass, int layer);

/** block_alloc_without_probs() for a pass. */
Block pass_block_alloc_without_probs(Pass *pass, int layer);

/** block_alloc_probs() for a pass. */
void pass_block_alloc_probs(Pass *pass, int layer, Block *block);

/** block_recompute_probs() for a pass. */
void pass_block_recompute_probs(Pass *pass, Block *block);

/** block_forward() in a pass, whose stream its masks are drawn from. */
void pass_block_forward(Pass *pass, int layer, Real *out, const Real *in, Block *block);

/** block_backward() in a pass. */
void pass_block_backward(Pass *pass, int layer, Real *dx, const Real *in, const Block *block);

#endif
