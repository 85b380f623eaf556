/**
 * @file contract.h
 * @brief The holes of lab 09: a chunked head, a captured training step, bytes of fused ops.
 * @ingroup labs
 *
 * residual_norm.cu is the other one: its contract is kernels/residual_norm.h.
 */
#ifndef LABS_09_FUSION_CONTRACT_H
#define LABS_09_FUSION_CONTRACT_H

#include <stdbool.h>

#include "kernels/adamw.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Pass Pass;             /**< common/pass.h */
typedef struct Trainer Trainer;       /**< common/trainer.h */
typedef struct StepReport StepReport; /**< common/trainer.h */
typedef struct Batch Batch;           /**< common/data.h */
typedef struct Graphed Graphed;       /**< common/graphed.h */

/* ---- head.c ---------------------------------------------------------------------------------- */

/**
 * Rows of a chunk of the head, so that a chunk of logits (rows, V) is about as large as the stream
 * (N, C): the next power of two from N / ceil(V / C), rounded up; not more than N.
 *
 *     rows = min(N, up(ceil(N / ceil(V / C)))),   up(x) = the least power of two >= x
 *
 * Source: P.-L. Hsu and others, "Liger Kernel", arXiv 2410.10989, section 3.2
 * (FusedLinearCrossEntropy), which takes the same rows.
 *
 * @param N tokens of a micro-batch, at least 1
 * @param C channels
 * @param V vocabulary
 */
int head_chunk_rows(int N, int C, int V);

/**
 * The head, forward, without a tensor of (N, V) numbers: as the kit's own head gives it
 * (common/pass.h), to rounding. The parameters are those of model->base, which a model with
 * adapters (lab 10) has frozen: param_grad() is NULL then.
 *
 * Keeps in pass->head, as that does and under the same names: mark, lnf, mean, rstd, losses, lse.
 * The logits of one chunk at a time, head_chunk_rows() rows, the last chunk perhaps fewer, are
 * an activation "logits" that is released before it returns: nothing is left of them, and
 * head.logits is NULL.
 *
 * @param     pass in flight
 * @param[in] x    (B, T, C) output of the last block
 * @return pass_losses(pass)
 */
double head_forward(Pass *pass, const Real *x);

/**
 * Backward of it: what the kit's own does, chunk by chunk. Computes each chunk's logits once more;
 * the gradient of the embedding is added up in the float gradient itself, chunk after chunk; and
 * pass->dx becomes the gradient of `x`. Releases what forward has kept.
 *
 * @param     pass  in flight, after head_forward()
 * @param[in] x     as given to forward
 * @param     dloss the weight of each valid target's loss, over the whole micro-batch
 */
void head_backward(Pass *pass, const Real *x, float dloss);

/* ---- control.cu ------------------------------------------------------------------------------ */

/** All that differs from one step to the next: uploaded before each replay, 64 bytes or fewer. */
typedef struct StepControl {
    uint64_t dropout_offset; /**< model->rng.offset where the step begins: Dropout.base */
    float learning_rate;     /**< of this step */
    float correct1;          /**< 1 / (1 - beta1^t), formed in double */
    float correct2;          /**< 1 / (1 - beta2^t) */
} StepControl;

/** The outcome of a step; downloaded after each replay. */
typedef struct StepResult {
    float norm;   /**< of all gradients, before clipping */
    float factor; /**< by which they are clipped; 1 for not at all */
    float found;  /**< not 0: a gradient was not finite, nothing is learned */
    float sum;    /**< of the squares of all gradients */
} StepResult;

/**
 * Clips, as far as that is possible without waiting: norm and factor from the sum of squares, as
 * optimizer_clip() (common/optimizer.h) has them, on the device, in float.
 *
 *     norm   = sqrt(sum)
 *     factor = max_norm > 0 && !(norm <= max_norm) ? max_norm / (norm + 1e-6) : 1
 *
 * @param[in,out] result   device memory: sum is read; norm and factor are written, found is not
 * @param         max_norm 0 for none
 */
void control_clip(StepResult *result, float max_norm);

/**
 * adamw() (kernels/adamw.h) with its numbers in device memory, and the clipped gradient: the same
 * bits as scale() by the factor and then adamw(). Where result->found is not 0, it does nothing.
 *
 * @param[in,out] weight  the parameters
 * @param[in,out] m       first moments
 * @param[in,out] v       second moments
 * @param[in]     grad    gradients, unclipped; they stay as they are
 * @param         adamw   beta1, beta2, epsilon, weight_decay; learning_rate is not looked at
 * @param[in]     control device memory: rate and corrections
 * @param[in]     result  device memory: found and factor
 */
void control_adamw(TensorList weight, TensorList m, TensorList v, TensorList grad, AdamW adamw,
                   const StepControl *control, const StepResult *result);

/* ---- step_graph.c ---------------------------------------------------------------------------- */

#ifndef __cplusplus /* the kernels of control.cu have no StepReport */
/**
 * A window, as accumulate_window() of lab 03 runs it: the same bits in weights, states, losses and
 * report, with dropout, a schedule and, where trainer->mixed is set, a scaler. Ticks the schedule
 * unless the step was skipped.
 *
 * The first window of a shape (count, B, T) runs as it is, by accumulate_window(), while the room
 * watches. The next one is captured, and it and all that follow are one cudaGraphLaunch() each. Of
 * what kernels get by value, the weight of a loss (share and loss scale) is guarded: where it
 * differs, the step is captured anew, without another eager one. All else that differs from step to
 * step comes through StepControl. Inside a capture nothing is allocated, uploaded or awaited.
 *
 * @param graphed by graphed_new(), of a trainer whose optimizer is AdamW
 * @param batches (count) host memory. Where they are not all of one shape (B, T), they run as they
 *                are, and the graph stays for the next window
 * @param count   micro-batches of the window, at least 1
 * @return as accumulate_window()
 */
StepReport step_graph_run(Graphed *graphed, const Batch *batches, int count);
#endif

/* ---- chains.c -------------------------------------------------------------------------------- */

/** Ops that follow each other on the same (N, C) numbers. */
typedef enum OpChain {
    /** sum = stream + branch, then out = layer norm of it, with weight and bias (C), and mean and
        rstd (N floats each), which are kept */
    CHAIN_RESIDUAL_NORM,
    /** in += bias (C), kept for backward; then out = GELU(in) */
    CHAIN_BIAS_GELU,
    /** masked = dropout(branch), then out = stream + masked; backward draws the mask again and
        needs neither */
    CHAIN_DROPOUT_RESIDUAL,
    /** grad *= factor, then AdamW of weight, m and v; all floats. Fused, the gradient is read and
        not written */
    CHAIN_SCALE_ADAMW,
    /** the sum of squares of x, then x *= a factor made of it; floats */
    CHAIN_NORM_SCALE,
} OpChain;

/**
 * Bytes of device memory that a chain reads and writes together: each tensor once for each op that
 * reads it, and once for each that writes it. Nothing stays in a cache between two launches; within
 * one, each number is read at most once. A single number, as a sum, counts nothing.
 *
 * @param chain which
 * @param fused as one launch, where that is possible, else as few as there can be; or one for each
 *              op
 * @param N     rows
 * @param C     columns
 * @param r     bytes of a stored number; of the chains that are all floats it changes nothing
 */
size_t chain_bytes(OpChain chain, bool fused, size_t N, size_t C, size_t r);

#ifdef __cplusplus
}
#endif

#endif
