/**
 * @file trainer.h
 * @brief What one training step works on, and how to measure the memory of one.
 * @ingroup common
 */
#ifndef COMMON_TRAINER_H
#define COMMON_TRAINER_H

#include "common/data.h"
#include "common/optimizer.h"

/** The state of mixed precision (common/lab05.h). */
typedef struct Mixed Mixed;

/** Everything that a training step touches. */
typedef struct Trainer {
    Model *model;         /**< weights and gradients; gradients are zero between steps */
    Optimizer *optimizer; /**< moments */
    Schedule schedule;    /**< learning rate; one tick per optimizer step */
    float max_grad_norm;  /**< clipping; 0 for none */
    Mixed *mixed;         /**< loss scaler, with weights in half (lab 05); NULL in float */
} Trainer;

/** What a step tells of itself. */
typedef struct StepReport {
    double loss;         /**< mean over the valid targets, in nats */
    float grad_norm;     /**< global norm before clipping */
    float learning_rate; /**< the rate that the update used */
    size_t tokens;       /**< valid targets that were learned from */
    bool skipped;        /**< a gradient was not finite: no update, no tick (lab 05) */
} StepReport;

/**
 * Mixed precision as it starts: fp16 with the scaler of scaler_init(), bf16, which has the range of
 * float, with a scale of 1 that stays.
 *
 * @param[out] mixed     to prepare; trainer->mixed points to it
 * @param      precision F16 or BF16
 */
void mixed_init(Mixed *mixed, Precision precision);

/**
 * Forward of a micro-batch: model_forward(), or checkpoint_forward() of lab 04 where
 * model->checkpoint asks for it.
 *
 * @return sum of the losses of the valid targets, in nats
 */
double trainer_forward(Trainer *trainer, const Batch *batch);

/**
 * Backward of the micro-batch in flight: adds to the gradients. The loss is scaled (lab 05) where
 * there is a loss scaler.
 *
 * @param trainer the same
 * @param share   what each valid target's loss counts in the gradient
 */
void trainer_backward(Trainer *trainer, float share);

/**
 * Counts the bytes of one step: allocates a model with its optimizer, runs forward, backward and an
 * update once, and frees everything. No loop is needed, so lab 00 can compare its formulas before
 * lab 01 exists.
 *
 * @param      config     the model; with weights in half the update is that of the masters alone
 * @param      checkpoint what backward runs again (lab 04); {0} for a plain step
 * @param      B          sequences
 * @param      T          tokens per sequence, at most config->T
 * @param      device     where
 * @param[out] peak       bytes by kind when the total was largest
 */
void trainer_measure(const ModelConfig *config, Checkpoint checkpoint, int B, int T, Device *device,
                     MemoryUse *peak);

#endif
