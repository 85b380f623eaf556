/**
 * @file optimizer.h
 * @brief AdamW over all parameters of a model, clipping by global norm, and the learning rate.
 * @ingroup common
 */
#ifndef COMMON_OPTIMIZER_H
#define COMMON_OPTIMIZER_H

#include "common/model.h"

/** The states of every parameter, and how many steps they have seen. */
typedef struct Optimizer {
    Model *model;       /**< borrowed */
    AdamW adamw;        /**< betas, epsilon, decay; the learning rate comes with each step */
    float **m;          /**< (param_count) first moments, device memory */
    float **v;          /**< (param_count) second moments, device memory */
    float **master;     /**< (param_count) weights in float, of which the model has a rounded copy:
                           device memory; NULL where its weights are floats themselves */
    TensorList weights; /**< what an update changes: weights, or their masters */
    TensorList m_list;  /**< all first moments */
    TensorList v_list;  /**< all second moments */
    int t;              /**< steps done */
    void (*before_step)(void *context, const Model *model); /**< sees the gradients of each step;
                                                                 NULL for none */
    void *context;                                          /**< given to before_step */
} Optimizer;

/**
 * Moments of zero for every parameter, 8 bytes for each number in the model; where weights are
 * stored in half, a float master of each as well, 4 bytes more, which starts as the weight is. The
 * lists that adamw() takes are workspace: workspace_bytes() counts them. A parameter whose weight
 * is not here has no state, and its pointers are NULL.
 *
 * @param model borrowed
 * @param adamw betas, epsilon and weight decay; its learning rate is not looked at
 * @return to be given to optimizer_free()
 */
Optimizer *optimizer_new(Model *model, AdamW adamw);

/**
 * Copies the weights into the masters, if there are any; call it after loading weights.
 */
void optimizer_take_weights(Optimizer *optimizer);

/** Frees the host side; device memory goes with the stack. NULL is fine. */
void optimizer_free(Optimizer *optimizer);

/**
 * One update of every parameter from its gradient, in one call of adamw(). Weight decay pulls on
 * matrices only: on a scale or a bias it would pull towards a wrong place. Where there are masters,
 * they are what is updated, and the weights stay as they were: to write them is a task of lab 05.
 *
 * @param optimizer     the moments; t goes up by one
 * @param learning_rate of this step
 */
void optimizer_step(Optimizer *optimizer, float learning_rate);

/**
 * Clips by global norm: where the norm of all gradients together exceeds `max_norm`, scales them
 * down to it. Their direction stays.
 *
 *     grad *= min(1, max_norm / (norm + 1e-6))
 *
 * With an infinite norm the factor is 0: infinite gradients become NaN, finite ones 0. A NaN norm
 * makes all of them NaN. Nothing bad is hidden.
 *
 * @param model    whose gradients
 * @param max_norm limit; 0 for none
 * @return the norm before
 */
float optimizer_clip(Model *model, float max_norm);

/** How the learning rate goes on after the warm-up. */
typedef enum Decay {
    DECAY_COSINE,   /**< along half a cosine to 0 */
    DECAY_LINEAR,   /**< along a line to 0 */
    DECAY_CONSTANT, /**< not at all */
} Decay;

/** Learning rate as a function of steps. */
typedef struct Schedule {
    Decay decay;         /**< shape after the warm-up */
    float learning_rate; /**< the largest */
    int warmup_steps;    /**< steps of a linear rise to it */
    int max_steps;       /**< where the decay ends */
    int step;            /**< ticks so far */
} Schedule;

/**
 * The rate of the step that comes next.
 *
 *     s < warmup:  rate * (s + 1) / warmup
 *     cosine:      rate * (1 + cos(pi * (s - warmup) / (max - warmup))) / 2
 *     linear:      rate * (max - s) / (max - warmup)
 */
float schedule_rate(const Schedule *schedule);

/** One optimizer step is done. */
void schedule_tick(Schedule *schedule);

#endif
