/**
 * @file trainer.h
 * @brief What one training step works on, and how to measure the memory of one.
 * @ingroup common
 */
#ifndef COMMON_TRAINER_H
#define COMMON_TRAINER_H

#include "common/data.h"
#include "common/optimizer.h"

/** The state of a dynamic loss scaler. */
typedef struct Scaler {
    float scale;    /**< what the loss is multiplied by; a power of two */
    float growth;   /**< factor after `interval` good steps */
    float backoff;  /**< factor after a step with an inf or NaN */
    float floor;    /**< the scale never falls below */
    int interval;   /**< good steps in a row before the scale grows */
    int good_steps; /**< how many there have been */
} Scaler;

/** The state of mixed precision: lab 05 fills it with life. */
typedef struct Mixed {
    Scaler scaler; /**< fp16's; with bf16 its scale is 1 */
    bool dynamic;  /**< whether scaler_update() is called: fp16, not bf16 */
} Mixed;

/** Inputs of segments that are in host memory while nobody reads them: lab 08 says of what. */
typedef struct Offload Offload;

/** A rank's part of weights, gradients and states: lab 12 says which. */
typedef struct Zero Zero;
/** The stage of a model that is on this rank: lab 13 says of what. */
typedef struct Pipeline Pipeline;

typedef struct Trainer Trainer;       /**< below */
typedef struct StepReport StepReport; /**< below */

/**
 * Everything that a training step touches, and the three places where a technique changes it. Those
 * are set by the program that knows the techniques (train/techniques.h); the runtime knows none.
 */
struct Trainer {
    Model *model;         /**< weights and gradients; gradients are zero between steps */
    Optimizer *optimizer; /**< states */
    Schedule schedule;    /**< learning rate; one tick per optimizer step */
    float max_grad_norm;  /**< clipping; 0 for none */
    Mixed *mixed;         /**< loss scaler, with weights in half (lab 05); NULL in float */
    Offload *offload;     /**< takes the inputs of segments to the host (lab 08); NULL: they stay */
    Pipeline *pipeline; /**< runs a window through its stages (lab 13); NULL: all blocks are here */

    Zero *zero; /**< shares with other ranks (lab 12); NULL: all is here */

    /** trainer_forward(); NULL for model_forward() */
    double (*forward)(Trainer *trainer, const Batch *batch);
    /** trainer_backward(); NULL for model_backward() */
    void (*backward)(Trainer *trainer, float share);
    /** Ends a window in place of clip, update and zero: writes norm, rate and skipped of the
        report, and leaves the tick to its caller. NULL where nothing takes their place. */
    void (*update)(Trainer *trainer, StepReport *report);
    void *context; /**< of the program that has set them; NULL unless it needs one */

    OptimizerRule rule; /**< of the optimizer that trainer_measure_as() makes; {0} for AdamW */
};

/** The outcome of a step. */
struct StepReport {
    double loss;         /**< mean over the valid targets, in nats */
    float grad_norm;     /**< global norm before clipping */
    float learning_rate; /**< the rate that the update used */
    size_t tokens;       /**< valid targets that were learned from */
    bool skipped;        /**< a gradient was not finite: no update, no tick (lab 05) */
};

/**
 * Forward of a micro-batch: trainer->forward, or model_forward() where there is none.
 *
 * @return sum of the losses of the valid targets, in nats
 */
double trainer_forward(Trainer *trainer, const Batch *batch);

/**
 * Backward of the micro-batch in flight: adds to the gradients. trainer->backward, or
 * model_backward() where there is none.
 *
 * @param trainer the same
 * @param share   the weight of each valid target's loss in the gradient, without a loss scale:
 *                where there is one, trainer->backward multiplies by it
 */
void trainer_backward(Trainer *trainer, float share);

/**
 * Counts the bytes of one plain step: trainer_measure_as() without a technique. `checkpoint` is
 * {0}.
 */
void trainer_measure(const ModelConfig *config, Checkpoint checkpoint, int B, int T, Device *device,
                     MemoryUse *peak);

/**
 * Counts the bytes of one step: allocates a model with its optimizer, runs forward, backward and an
 * update once, and frees everything. No loop is needed, so lab 00 can compare its formulas before
 * lab 01 exists.
 *
 * @param      way        its forward, backward and rule are taken, and of its model, if it has one,
 *                        head and fused norm; NULL for a plain step
 * @param      config     the model; with weights in half the update is that of the masters alone
 * @param      checkpoint what backward runs again (lab 04); {0} for a plain step
 * @param      B          sequences
 * @param      T          tokens per sequence, at most config->T
 * @param      device     where
 * @param[out] peak       bytes by kind when the total was largest
 */
void trainer_measure_as(const Trainer *way, const ModelConfig *config, Checkpoint checkpoint, int B,
                        int T, Device *device, MemoryUse *peak);

#endif
