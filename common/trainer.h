/**
 * @file trainer.h
 * @brief What one training step works on, and how to measure the memory of one.
 * @ingroup common
 */
#ifndef COMMON_TRAINER_H
#define COMMON_TRAINER_H

#include "common/data.h"
#include "common/optimizer.h"

/** Everything that a training step touches. */
typedef struct Trainer {
    Model *model;         /**< weights and gradients; gradients are zero between steps */
    Optimizer *optimizer; /**< moments */
    Schedule schedule;    /**< learning rate; one tick per optimizer step */
    float max_grad_norm;  /**< clipping; 0 for none */
} Trainer;

/** What a step tells of itself. */
typedef struct StepReport {
    double loss;         /**< mean over the valid targets, in nats */
    float grad_norm;     /**< global norm before clipping */
    float learning_rate; /**< the rate that the update used */
    size_t tokens;       /**< valid targets that were learned from */
} StepReport;

/**
 * Counts the bytes of one step: allocates a model with its optimizer, runs forward, backward and an
 * update once, and frees everything. No loop is needed, so lab 00 can compare its formulas before
 * lab 01 exists.
 *
 * @param      config the model; with weights in half there is no update, and no optimizer state
 * @param      B      sequences
 * @param      T      tokens per sequence, at most config->T
 * @param      device where
 * @param[out] peak   bytes by kind when the total was largest
 */
void trainer_measure(const ModelConfig *config, int B, int T, Device *device, MemoryUse *peak);

#endif
