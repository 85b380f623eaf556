/**
 * @file contract.h
 * @brief The holes of lab 12: ranks that share what each of them would have whole.
 * @ingroup labs
 *
 * Ranks that learn from different batches and update alike have the same weights, gradients and
 * optimizer states R times. ZeRO gives each rank a part of them:
 *
 *     stage 1   the states            each rank updates its part, and the others get it
 *     stage 2   the gradients too     each is summed where it is needed, block after block
 *     stage 3   the weights too       a block is whole only while it runs
 *
 * *Units.* The parameters of a block are a unit, and so are those outside of blocks (unit 0; block
 * l is unit l + 1). A unit is one array: the flat index of its parameters (kernels/tensors.h), in
 * which each tensor begins at a multiple of TENSOR_BLOCK, and after it zeros up to R equal parts.
 * Rank r owns part r.
 *
 *     | wte            | wpe        | ln_f.w | ln_f.b |      |
 *     |    part 0    |    part 1    |    part 2    |  part 3    |
 *
 * Parts are cut between blocks of TENSOR_BLOCK numbers, tensors anywhere. A cut at blocks leaves
 * the sums of the norm what they are on one rank (kernels/sumsq.h).
 *
 * Calls of NCCL go into zero->stream, in the order of the ops. On the CPU, ops are in no stream:
 * there the host waits for each call (zero_settle()).
 *
 * Source: S. Rajbhandari et al., "ZeRO: Memory optimizations toward training trillion parameter
 * models", arXiv 1910.02054. Units as in Y. Zhao et al., "PyTorch FSDP", arXiv 2304.11277.
 */
#ifndef LABS_12_ZERO_CONTRACT_H
#define LABS_12_ZERO_CONTRACT_H

#include <cuda_runtime.h>
#include <nccl.h>

#include "common/pieces.h"
#include "common/trainer.h"

/** One unit on this rank. */
typedef struct ZeroUnit {
    size_t part;      /**< numbers of each rank's part */
    size_t at;        /**< where this rank's part begins among its parts of all units */
    Real *weights;    /**< (ranks, part) the whole unit; NULL while it is not here */
    float *grads;     /**< (ranks, part) likewise */
    Real *my_weights; /**< (part) this rank's: part `rank` of weights, or by itself (stage 3) */
    float *my_grads;  /**< (part) likewise, by itself from stage 2 on */
    Memory *lane;     /**< where `weights` are while they are here (stage 3) */
    MemoryMark grads_mark; /**< the lane below `grads`, where they come and go */
} ZeroUnit;

/** A stream, events and slots for units that are gathered ahead: ahead.c says how. */
typedef struct ZeroAhead ZeroAhead;

/** A model of which each rank has a part. */
struct Zero {
    int stage;           /**< 1, 2 or 3 */
    int rank;            /**< this one */
    int ranks;           /**< R */
    ncclComm_t comm;     /**< borrowed */
    cudaStream_t stream; /**< the calls of NCCL; borrowed */
    Model *model;        /**< the whole: what runs; borrowed */
    Model *shard;        /**< this rank's pieces of it: what is updated */
    ZeroUnit *unit;      /**< (L + 1) */
    size_t length;       /**< numbers of this rank's parts of all units */
    Memory *weights;     /**< the lane of weights that come and go */
    Memory *grads;       /**< the lane of gradients that come and go */
    ZeroAhead *ahead;    /**< stage 3: gathers the next unit beside the part that runs; or NULL */
    double *norm; /**< (ranks, length / TENSOR_BLOCK) partial sums of the norm, device memory */
};

/* ---- shard.c --------------------------------------------------------------------------------- */

/**
 * Numbers of each rank's part of a unit: the fewest with which R parts hold it, where a part is
 * a multiple of TENSOR_BLOCK.
 *
 * @param length numbers of the unit, a multiple of TENSOR_BLOCK
 * @param ranks  R
 */
size_t shard_part(size_t length, int ranks);

/**
 * A rank's piece of a tensor.
 *
 * @param begin  flat index of the tensor in its unit, a multiple of TENSOR_BLOCK
 * @param count  numbers of the tensor
 * @param part   numbers of a part
 * @param rank   whose
 * @return `at` is the place in the rank's part, 0 to `part`; where the tensor lies before the part
 *         or after it, count is 0, and `at` is 0 or `part`; first is then 0
 */
Piece shard_piece(size_t begin, size_t count, size_t part, int rank);

/**
 * Bytes that a rank has all the time: weights, gradients, optimizer. The other kinds are 0. States
 * are those of the rank's pieces alone, so all ranks together have as many as one without ZeRO.
 *
 * @param config the model; AdamW, and with weights in half their masters
 * @param stage  1, 2 or 3
 * @param ranks  R
 * @param rank   which
 */
MemoryUse shard_states(const ModelConfig *config, int stage, int ranks, int rank);

/**
 * The most bytes that come and go at any one time, by kind: of weights one unit; of gradients the
 * unit of a block beside unit 0, to which the head adds at the start of backward and the embedding
 * at its end.
 */
MemoryUse shard_gathered(const ModelConfig *config, int stage, int ranks);

/**
 * The most bytes of weights that come and go where the next unit is gathered while a part runs: two
 * units of which one runs after the other, two blocks' or that of a block and unit 0.
 *
 * @param config the model
 * @param ranks  R
 */
size_t shard_ahead(const ModelConfig *config, int ranks);

/**
 * Bytes of weights and gradients that a rank sends in one update, if each call goes round a ring:
 * reduce-scatter and all-gather send (R - 1) / R of the whole array.
 *
 * @param config the model
 * @param stage  1, 2 or 3
 * @param ranks  R
 * @param micros micro-batches of the update, on each rank, without checkpointing
 */
size_t shard_wire(const ModelConfig *config, int stage, int ranks, int micros);

/* ---- units.c, which is given ----------------------------------------------------------------- */

/**
 * Prepares a rank. Cuts each unit and calls zero_memory() for it; makes the pieces (zero->shard,
 * which is model->pieces); sets zero_enter(), zero_leave() and the norm.
 *
 * @param model  without weights and gradients of its own; no weights yet
 * @param stage  1, 2 or 3
 * @param comm   of the ranks that share the model
 * @param stream of their calls
 * @return to be given to zero_close()
 */
Zero *zero_open(Model *model, int stage, ncclComm_t comm, cudaStream_t stream);

/** Frees the host side; device memory goes with the stack. NULL is fine. */
void zero_close(Zero *zero);

/**
 * model->enter: what a part of a pass needs comes. Layer -1 is the embedding, L the head.
 *
 *     gradients, from stage 2 on, zero: a block's for its backward; unit 0's for that of the head
 *     weights at stage 3: unit 0's for the embedding, and for the head; a block's each time it runs
 */
void zero_enter(void *zero, int layer, bool backward);

/**
 * model->leave: what is not needed any more goes.
 *
 *     gradients: summed and released, a block's after its backward, unit 0's after the embedding's
 *     weights: released; those of the head stay up to its backward, if the pass trains
 */
void zero_leave(void *zero, int layer, bool backward);

/**
 * Allocates memory of a unit that stays, zero.
 *
 * @param zero    the rank
 * @param kind    of the memory
 * @param unit    which
 * @param whole   all R parts, or one
 * @param element bytes of a number
 */
void *zero_alloc(const Zero *zero, MemoryKind kind, int unit, bool whole, size_t element);

/** Number i of an array in the model's precision. */
Real *zero_at(const Zero *zero, Real *array, size_t i);

/**
 * Puts a whole unit of weights, unit->weights from now on, into the model.
 *
 * @param zero    the rank
 * @param unit    which
 * @param weights (ranks, part) device memory, or NULL to take them out
 */
void zero_put_weights(Zero *zero, int unit, Real *weights);

/** Puts a whole unit of gradients, unit->grads from now on, into the model; NULL takes them out. */
void zero_put_grads(Zero *zero, int unit, float *grads);

/** On the CPU the host waits for the stream, since no op would; on a GPU nothing. */
void zero_settle(const Zero *zero);

/** NCCL's name of a precision. */
ncclDataType_t zero_type(Precision precision);

/* ---- zero1.c --------------------------------------------------------------------------------- */

/**
 * Gives a unit the memory that stays, zero: of kind weights the whole unit, or at stage 3 this
 * rank's part; of kind gradients the whole unit, or from stage 2 on this rank's part. What is whole
 * is put into the model; my_weights and my_grads are this rank's part in either case.
 *
 * @param zero the rank
 * @param unit which; its `part` is known
 */
void zero_memory(Zero *zero, int unit);

/**
 * Sums a unit's gradients over the ranks, in their order, in place: part `rank` of unit->grads is
 * this rank's part of the sum. What the other parts hold afterwards is not used.
 *
 * @param zero  the rank
 * @param unit  whose gradients are here, and complete
 */
void zero_reduce(Zero *zero, int unit);

/**
 * The norm of the gradients of all ranks: shard->grad_norm. Double sums of the squares of each
 * block of TENSOR_BLOCK numbers (model->ops->sumsq leaves them in the workspace), brought together
 * and added in the order of the flat index: unit after unit, rank after rank; the sum is then
 * rounded to float, and its root taken.
 *
 * @param shard zero->shard
 * @return the same bits on every rank
 */
float zero_norm(Model *shard);

/**
 * Ends a window: trainer->update. Sums the gradients (stage 1); with trainer->mixed unscales them,
 * and where a gradient of any rank is not finite, all ranks skip the update; else clips, updates
 * this rank's pieces with the schedule's rate, with masters writes them, rounded, into the weights;
 * stages 1 and 2 bring the weights together. Then gradients are zero, and the scaler, where it is
 * dynamic, has been updated. Does not tick the schedule.
 *
 * @param         trainer trainer->zero is the rank, trainer->optimizer that of its shard
 * @param[in,out] report  norm, rate, skipped are written
 */
void zero_update(Trainer *trainer, StepReport *report);

/* ---- zero2.c --------------------------------------------------------------------------------- */

/** A whole unit of gradients is allocated in zero->grads (kind gradients), zero, and put into the
    model. */
void zero_grads_come(Zero *zero, int unit);

/**
 * A unit's gradients are complete for this micro-batch: sums them, takes them out of the model,
 * and releases them.
 *
 *     my_grads += sum over ranks of their part `rank` of grads
 */
void zero_grads_go(Zero *zero, int unit);

/* ---- zero3.c --------------------------------------------------------------------------------- */

/**
 * The whole unit is allocated in zero->weights (kind weights), filled from the parts of all ranks,
 * and put into the model.
 */
void zero_weights_come(Zero *zero, int unit);

/** It is taken out of the model, and released: its lane is empty. */
void zero_weights_go(Zero *zero, int unit);

/**
 * Text on every rank. Where a block is whole only while it runs, a step of the model is one of all
 * ranks: one that is done steps on until all are. Its steps change nothing: who gives them has seen
 * to that.
 *
 * @param zero    the rank
 * @param done    whether this rank has all that it wants; once true, it stays true
 * @param step    runs the model once, and draws where it is not done
 * @param context given to both
 * @return steps that this rank has made: at stage 3 the same on all ranks; else those that it
 *         needed
 */
int zero_generate(Zero *zero, bool (*done)(void *context), void (*step)(void *context),
                  void *context);

/* ---- ahead.c --------------------------------------------------------------------------------- */

/**
 * From here on the next unit is gathered while a part of a pass runs, in a stream of its own which
 * the default stream does not wait for:
 *
 *     forward    embedding, blocks from 0 on, head      in each the unit of the one after it
 *     backward   head, blocks from L - 1 on             likewise; block 0 sends for none
 *
 *     gather k   after    the part that is before the one before: it used the slot
 *     part k     after    gather k
 *
 * Nothing else orders a gather and the part beside it, and on a GPU the host waits for neither. Two
 * units have a slot each: zero->weights, and the lane "weights ahead". So two are here at most, and
 * each is gathered as often as without this; the weights have the same bits.
 *
 * A block that runs again (lab 04) sends for nothing: its backward may be next. Where a unit is on
 * its way and another is needed, it is dropped.
 *
 * @param zero at stage 3, fresh from zero_open(); zero_close() ends it
 */
void zero_ahead_open(Zero *zero);

/** The host waits for its stream, and all of it is given back; zero->ahead is NULL then. */
void zero_ahead_close(Zero *zero);

/** In place of zero_weights_come(): what was sent for comes, or else it is sent for now. */
void zero_ahead_come(Zero *zero, int unit);

/**
 * A part of a pass begins, and its own unit is here: sends for the unit of the next one.
 *
 * @param zero     with zero->ahead
 * @param layer    -1, a block, or L, as for zero_enter()
 * @param backward whether this is its backward
 */
void zero_ahead_next(Zero *zero, int layer, bool backward);

/** Releases what was sent for and has not come into the model, once it is here. */
void zero_ahead_drop(Zero *zero);

#endif
