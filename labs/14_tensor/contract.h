/**
 * @file contract.h
 * @brief The holes of lab 14: one model on several ranks, each with a slice of every block.
 * @ingroup labs
 *
 * A rank has NH / R of the heads and 4C / R of the MLP's columns of each block, and some rows of
 * the token embedding. The first linear layer of a branch is split by its outputs, the second by
 * its inputs, so that nothing need be sent between them:
 *
 *     column   out_r = in W_r^T + b_r      in: whole on each rank     out_r: this rank's columns
 *     row      out = sum_r in_r W_r^T + b  in_r: this rank's columns  out: whole on each rank
 *
 * LINEAR_QKV and LINEAR_FC are columns, LINEAR_PROJ and LINEAR_FCPROJ rows. Layer norms, the
 * position embedding and the biases of rows are whole on each rank, and stay the same there to the
 * bit: each rank makes their gradients from the same numbers, in the same order.
 *
 * Sums over ranks are ncclAllReduce() of the group's communicator, in its stream. On a GPU that is
 * the stream of the ops, which come after it by themselves. On the CPU the ops are in no stream:
 * after each collective wait for it, by cudaStreamSynchronize(), where device->host_memory is true.
 *
 * Source: M. Shoeybi and others, "Megatron-LM", arXiv 1909.08053, section 3.
 */
#ifndef LABS_14_TENSOR_CONTRACT_H
#define LABS_14_TENSOR_CONTRACT_H

#include <cuda_runtime.h>
#include <nccl.h>

#include "common/linear.h"

/** The ranks that share the blocks of a model: `model->split` points to one. */
typedef struct TensorGroup {
    ncclComm_t comm;     /**< theirs */
    cudaStream_t stream; /**< for the collectives */
    int size;            /**< R: a divisor of NH */
    int rank;            /**< this one: 0 ... R - 1 */
} TensorGroup;

/** The group of a model that is split. */
static inline const TensorGroup *tensor_group(const Model *model) {
    return (const TensorGroup *)model->split;
}

/** NCCL's name for the model's stored numbers. */
static inline ncclDataType_t tensor_type(const Model *model) {
    Precision precision = model->config.precision;
    return precision == F32 ? ncclFloat : precision == F16 ? ncclHalf : ncclBfloat16;
}

/* ---- split.c --------------------------------------------------------------------------------- */

/** Rows of the token embedding. */
typedef struct VocabRows {
    int first; /**< the first one */
    int count; /**< how many */
} VocabRows;

/**
 * The rows of a rank: ranges one after the other in the order of ranks, whose sizes differ by at
 * most one, the larger ones first.
 *
 * @param V     vocabulary, at least `ranks`; no multiple of it as a rule
 * @param ranks R
 * @param rank  which
 */
VocabRows slice_vocab(int V, int ranks, int rank);

/**
 * A rank's slice of a parameter, cut from the whole. Also for optimizer states of its shape.
 *
 * QKV_WEIGHT (3C, C) and QKV_BIAS (3C) hold queries, keys, values: of each third the rank has the
 * rows of its heads. FC_WEIGHT and FC_BIAS are split by rows, PROJ_WEIGHT and FCPROJ_WEIGHT by
 * columns, WTE by slice_vocab(). All others are whole on each rank.
 *
 * @param[out] slice (numbers of the slice) row-major
 * @param[in]  whole the parameter, row-major (rows, cols) as params_describe() has it
 * @param      config of the model
 * @param      at    index in the model's list of parameters (params.h): MODEL_PARAMS +
 *                   l * BLOCK_PARAMS + id for those of blocks
 * @param      ranks R
 * @param      rank  which
 */
void slice_cut(float *slice, const float *whole, const ModelConfig *config, int at, int ranks,
               int rank);

/** The way back: puts a slice into the whole, and leaves what belongs to other ranks. */
void slice_join(float *whole, const float *slice, const ModelConfig *config, int at, int ranks,
                int rank);

/**
 * The norm of all gradients of the whole model, for model->grad_norm: the same bits on each rank.
 * A gradient that all ranks have counts once.
 *
 * One all-reduce of one float.
 *
 * @param model split; gradients are not changed
 * @return square root of the sum of squares of the whole model's gradients
 */
float slice_norm(Model *model);

/**
 * Where a gradient of one rank is inf or NaN, makes one so on each rank: all skip the step, or none
 * (lab 05). Otherwise no gradient changes. Called before the update, with weights in half.
 *
 * One all-reduce of one float. A NaN on its own is not enough: ncclMax passes over it.
 *
 * @param model split
 */
void slice_share_overflow(Model *model);

/* ---- linear_tp.c ----------------------------------------------------------------------------- */

/**
 * Forward of a linear layer that ranks share: model->linear_forward. Writes.
 *
 * Column: no communication; its bias is this rank's slice, but LINEAR_FC has none here: GELU adds
 * it. Row: one all-reduce of (N, OC) numbers in storage precision, in place in `out`. Its bias is
 * whole, and counts once: rank 0 adds it to its part.
 *
 * @param[in]  linear which; IC and OC are those of the slice
 * @param[out] out    (N, OC)
 * @param[in]  in     (N, IC)
 */
void tp_forward(Linear *linear, Real *out, const Real *in);

/**
 * Its backward: adds to the gradients of weight and bias, and writes the gradient of the input.
 *
 * Column: a rank's part of din is what its columns give; one all-reduce of (N, IC) numbers makes
 * it whole, in place. Row: no communication; dout is whole, and so is the bias's gradient, on each
 * rank. LINEAR_FC's bias has its gradient here, as in a layer that is not split.
 *
 * @param[in]     linear which
 * @param[in,out] din    (N, IC), zero on entry
 * @param[in]     dout   (N, OC)
 * @param[in]     in     (N, IC) as given to forward
 */
void tp_backward(const Linear *linear, Real *din, const Real *dout, const Real *in);

/* ---- loss_tp.c ------------------------------------------------------------------------------- */

/**
 * Embedding of the pass's tokens: model->embed_forward. Each rank looks up those of its rows; the
 * others are 0, and the position counts once. One all-reduce of (N, C) numbers in storage
 * precision.
 *
 * Scratch, an activation: the ids of its rows, "vocab.tokens" (N); so in backward.
 *
 * @param      pass in flight
 * @param[out] x    (B, T, C)
 */
void tp_embed_forward(Pass *pass, Real *x);

/** Its backward, from pass->dx: adds to WTE's rows that are here and to WPE. No communication. */
void tp_embed_backward(Pass *pass);

/**
 * The head, forward: model->head_forward. No rank ever has (N, V) numbers; with V_r = its rows,
 * logits are (N, V_r), rows logits_stride(V_r) apart.
 *
 *     max = max over ranks, sum = sum over ranks of sum_v exp(logits[v] - max),
 *     at_target = sum over ranks: one of them has it
 *
 * An all-reduce (max) of N floats, then one (sum) of 2N: sum and at_target side by side.
 * kernels/vocab.h has the ops.
 *
 * Keeps in pass->head mark, lnf, mean, rstd, logits, losses, lse, under the names that the kit's
 * own head gives them (common/pass.c). Scratch on top, activations: "vocab.targets" (N) ids of its
 * rows, "vocab.max" (N), "vocab.sums" (2, N); not more.
 *
 * @param     pass in flight
 * @param[in] x    (B, T, C) output of the last block
 * @return pass_losses(pass): the same on each rank
 */
double tp_head_forward(Pass *pass, const Real *x);

/**
 * Backward of it: turns the logits into their gradient, adds to WTE's rows that are here, and makes
 * pass->dx the gradient of `x`. One all-reduce of (N, C) numbers, "lnf.dout", before the layer
 * norm. Releases what forward has kept.
 *
 * Scratch, activations: "vocab.targets" (N), "lnf.dout" (N, C).
 *
 * @param     pass  in flight, after tp_head_forward()
 * @param[in] x     as given to forward
 * @param     dloss the weight of each valid target's loss
 */
void tp_head_backward(Pass *pass, const Real *x, float dloss);

/* ---- bytes_tp.c ------------------------------------------------------------------------------ */

/**
 * Bytes of a rank that stay for the whole run: weights, gradients, optimizer (AdamW; with weights
 * in half a master of each). The other kinds are 0.
 *
 * @param config the whole model
 * @param ranks  R
 * @param rank   which: they have different numbers of rows of the embedding
 */
MemoryUse tp_states(const ModelConfig *config, int ranks, int rank);

/**
 * The most activation bytes of a rank at any one time of a step, to the byte.
 *
 * @param config     the whole model
 * @param B          sequences
 * @param T          tokens per sequence
 * @param ranks      R
 * @param rank       which
 * @param checkpoint what is run again, as in lab 04; {0} for nothing
 */
size_t tp_activations(const ModelConfig *config, int B, int T, int ranks, int rank,
                      Checkpoint checkpoint);

/**
 * Bytes that all ranks together send in forward and backward of a micro-batch, if each all-reduce
 * of n bytes goes round a ring: 2 n (R - 1). No block runs again.
 *
 * @param config the whole model
 * @param B      sequences
 * @param T      tokens per sequence
 * @param ranks  R
 */
size_t tp_wire_bytes(const ModelConfig *config, int B, int T, int ranks);

#endif
