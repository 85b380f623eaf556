/**
 * @file contract.h
 * @brief The holes of lab 13: the blocks of a model cut into stages, one on each rank.
 * @ingroup labs
 *
 * Stage s of p has the blocks s L / p to (s + 1) L / p - 1, whole numbers rounded down.
 * The first one has the embedding as well, the last one the head. Micro-batches run through the
 * stages: a stage hands on what its blocks have made, and takes back the gradient of that.
 *
 *     forward   x of stage s     ->  stage s + 1        (B, T, C) in storage precision
 *     backward  dx of stage s    ->  stage s - 1        the gradient of what came from there
 *
 * *Order.* Forwards of a stage run in rising order of micro-batches, for messages between two ranks
 * arrive in the order in which they were sent. So do backwards, and for another reason: each adds
 * to the same gradients, and a sum of floats depends on its order. With rising ones every gradient
 * has the bits of one device that runs the micro-batches one after the other; with others it has
 * not. The tied weight alone is a sum of two halves, each in that order (see tie_sum()).
 *
 * *Messages.* A send is over when it has been received: there is no buffer in between. Two
 * neighbours that both send first wait forever. Calls between ncclGroupStart() and ncclGroupEnd()
 * wait for each other only at the end of the group. Everything goes into the default stream, that
 * of the ops. The ops of the CPU are in no stream: there the host waits for the stream before it
 * reads what has come, and before it releases what it has sent.
 *
 * *Masks.* Dropout draws the masks of one device that runs the micro-batches one after the other:
 * each of them one for the embedding and two for each block of the whole model. A stage skips those
 * of the others.
 *
 * Sources: Y. Huang et al., "GPipe: Efficient training of giant neural networks using pipeline
 * parallelism", arXiv 1811.06965; D. Narayanan et al., "Efficient large-scale language model
 * training on GPU clusters using Megatron-LM", arXiv 2104.04473, section 2.2; O. Press, L. Wolf,
 * "Using the output embedding to improve language models", arXiv 1608.05859.
 */
#ifndef LABS_13_PIPELINE_CONTRACT_H
#define LABS_13_PIPELINE_CONTRACT_H

#include "common/model.h"

/** The order of a stage's work. */
typedef enum PipeOrder {
    PIPE_1F1B,  /**< a few forwards, then a backward and a forward in turn, then backwards */
    PIPE_GPIPE, /**< all forwards, then all backwards */
} PipeOrder;

/** The work of one stage on one window. */
typedef struct PipePlan {
    PipeOrder order; /**< in which it is done */
    int stages;      /**< p, at least 1 and at most L */
    int stage;       /**< which one, from 0 on */
    int micros;      /**< m, micro-batches of the window, at least 1 */
} PipePlan;

/** One micro-batch, one way. */
typedef struct PipeWork {
    int micro;     /**< which, from 0 on */
    bool backward; /**< or else forward */
} PipeWork;

/** A rank's place in a pipeline. */
typedef struct Pipe {
    Model *model;          /**< the part that pipe_part() says; borrowed */
    PipeOrder order;       /**< of each window */
    int stages;            /**< p */
    int stage;             /**< this one */
    struct ncclComm *comm; /**< of the stages, in their order; not used where p is 1 */
    /** of the first stage, rank 0, and the last, rank 1; NULL on others, and where p is 1 */
    struct ncclComm *ends;
} Pipe;

/** A window on its way through a stage. */
typedef struct PipeWindow {
    Pipe *pipe;           /**< this rank's place */
    const Batch *batches; /**< one for each micro-batch */
    int lanes;            /**< micro-batch i has the pass i % lanes */
    Pass *passes;         /**< (lanes) */
    float share;          /**< the weight of each valid target's loss */
    double loss;          /**< of the micro-batches so far */
} PipeWindow;

/** The pass of a micro-batch. */
static inline Pass *pipe_pass(const PipeWindow *window, PipeWork work) {
    return &window->passes[work.micro % window->lanes];
}

/* ---- schedule.c ------------------------------------------------------------------------------ */

/** The part of a stage: its blocks, embedding or head. Unsharded, with weights and gradients. */
ModelPart pipe_part(const ModelConfig *config, int stages, int stage);

/**
 * The work of a stage, in order. A backward comes after the forward of its micro-batch.
 *
 *     GPIPE: forward 0 ... m - 1, backward 0 ... m - 1
 *     1F1B:  as many forwards as pipe_in_flight() says; from then on a backward, and the next
 *            forward, if there is one
 *
 * @param      plan which stage of which window
 * @param[out] work (2 micros)
 */
void pipe_order(const PipePlan *plan, PipeWork *work);

/**
 * Micro-batches whose forward is done and whose backward is not, at most: m with GPIPE; with 1F1B
 * min(m, p - stage), since the gradient of the first one takes that long to come.
 */
int pipe_in_flight(const PipePlan *plan);

/**
 * The part of the time in which a stage has nothing to do, where all stages take equally long, as
 * a double has it:
 *
 *     time = (m + p - 1) (forward + backward),    bubble = (p - 1) / (m + p - 1)
 */
double pipe_bubble(int stages, int micros);

/**
 * The bytes of a stage by kind, at its peak, with AdamW: weights, gradients, states; activations
 * and data of the micro-batches in flight. Workspace is 0: it is the device's.
 *
 * In flight, each micro-batch has dx, the input of the stage's first block, what the blocks keep
 * with their outputs, and on the last stage what the head keeps. On top comes the backward of a
 * block, or of the head. The first stage has tokens on the device, the last one targets.
 *
 * @param config the whole model
 * @param plan   which stage of which window
 * @param B      sequences of each micro-batch
 * @param T      tokens of each sequence
 */
MemoryUse pipe_bytes(const ModelConfig *config, const PipePlan *plan, int B, int T);

/**
 * The bytes that a stage sends in a window: m messages to each neighbour, and, from both ends, its
 * half of the tied gradient (an all-reduce of two ranks sends it once). The norm is left out.
 */
size_t pipe_wire(const ModelConfig *config, const PipePlan *plan, int B, int T);

/* ---- stage.c --------------------------------------------------------------------------------- */

/**
 * Forward and backward of a window on this stage, in the order of pipe_order(). Adds to the
 * gradients; no pass is in flight before and after.
 *
 * Each micro-batch in flight has its tensors in a lane of the model's memory of its own. A lane may
 * be used again when the backward in it is through, and its gradient received.
 *
 * @param pipe    this rank's place
 * @param batches (count) host memory, the same on each stage; they may differ in shape
 * @param count   at least 1
 * @param share   the weight of each valid target's loss, as for model_backward()
 * @return on the last stage the sum of the losses of all valid targets, in nats, added in the order
 *         of micro-batches; else 0
 */
double pipe_window(Pipe *pipe, const Batch *batches, int count, float share);

/**
 * The loss of a batch, without dropout and without a trace, as model_evaluate() gives it.
 *
 * @return on the last stage; else 0
 */
double pipe_evaluate(Pipe *pipe, const Batch *batch);

/* ---- messages.c ------------------------------------------------------------------------------ */

/**
 * Sends the output of the work that is done, and receives the input of the next: of a forward
 * x[part.last] and x[part.first], of a backward dx. Either may be NULL. A neighbour that is not
 * there gets nothing.
 *
 * @param window the pass of `next` has begun
 * @param done   what has run last
 * @param next   what runs then
 */
void pipe_exchange(const PipeWindow *window, const PipeWork *done, const PipeWork *next);

/* ---- tie.c ----------------------------------------------------------------------------------- */

/**
 * The token embedding is the head's weight too: first and last stage have a copy each, and a half
 * of its gradient. Makes both gradients their sum, so that both copies are updated alike. Called
 * once for a window, when all backwards are done. Stages in between do nothing; nor does a
 * pipeline of one stage, whose gradient has both halves.
 */
void tie_sum(Pipe *pipe);

/**
 * The global norm: square root of the sum of squares of all gradients of the whole model, the tied
 * one counted once, on the first stage. Called after tie_sum(). Each stage's sum is a float, as
 * ops->sumsq gives it; they are added as floats, in the order of stages.
 *
 * @return the same bits on every stage; in a pipeline of one those of model_grad_norm()
 */
float tie_norm(Pipe *pipe);

#endif
