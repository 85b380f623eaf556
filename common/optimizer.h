/**
 * @file optimizer.h
 * @brief An update of all parameters of a model, clipping by global norm, and the learning rate.
 * @ingroup common
 */
#ifndef COMMON_OPTIMIZER_H
#define COMMON_OPTIMIZER_H

#include "common/model.h"

/** The optimizers, in the order of the names of `train --optim`. */
typedef enum Optim {
    OPTIM_ADAMW,     /**< AdamW with float moments */
    OPTIM_ADAFACTOR, /**< second moments of rows and columns (kernels/adafactor.h) */
    OPTIM_ADAMW_8BIT /**< AdamW with moments of one byte (kernels/adam8.h) */
} Optim;

typedef struct Optimizer Optimizer; /**< below */

/** How an optimizer learns: which states it keeps, and what a step makes of them. */
typedef struct OptimizerRule {
    const char *name; /**< as in --optim; a checkpoint has it */
    /** Allocates the states of each parameter that optimizer_has(), by optimizer_state(), and
        whatever else a step needs: in workspace two lists of the size of the weights' one. */
    void (*open)(Optimizer *optimizer);
    /** One update of all that is in `weights`, with the numbers of `adamw`, its learning rate among
        them. optimizer->t counts it already. */
    void (*step)(Optimizer *optimizer, AdamW adamw);
    const void *context; /**< of the rule; borrowed */
} OptimizerRule;

/** A tensor that a rule keeps from step to step: a checkpoint has all of them. */
typedef struct OptimizerState {
    const char *name; /**< in a file it stands before the parameter's: "m" */
    int param;        /**< whose it is: index in model->params */
    size_t count;     /**< numbers */
    size_t size;      /**< bytes of each: 4 for floats, 1 for codes */
    void *data;       /**< (count) device memory */
    size_t each;      /**< numbers of the parameter that one is for: 1, or those of a block; 0 where
                           there is no such relation, so that a piece of it is of no use */
} OptimizerState;

/** The states of every parameter, and how many steps they have seen. */
struct Optimizer {
    Model *model;           /**< borrowed */
    AdamW adamw;            /**< betas, epsilon, decay; the learning rate comes with each step */
    OptimizerRule rule;     /**< how it learns */
    OptimizerState *states; /**< (state_count) all that is kept, in the order of allocation */
    int state_count;        /**< how many */
    float **m;              /**< (param_count) AdamW's first moments, device memory; else NULL */
    float **v;              /**< (param_count) AdamW's second moments, device memory; else NULL */
    float **master;         /**< (param_count) weights in float, of which the model has a rounded
                               copy: device memory; NULL where its weights are floats themselves */
    TensorList weights;     /**< what an update changes: weights, or their masters */
    void *own;              /**< of the rule: a block of host memory that free() takes, or NULL */
    int t;                  /**< steps done */
    void (*before_step)(void *context, const Model *model); /**< sees the gradients of each step;
                                                                 NULL for none */
    void *context;                                          /**< given to before_step */
};

/**
 * AdamW: moments of zero for every parameter, 8 bytes for each number in the model; where weights
 * are stored in half, a float master of each as well, 4 bytes more, which starts as the weight is.
 * The lists that adamw() takes are workspace: workspace_bytes() counts them. A parameter whose
 * weight is not here has no state, and its pointers are NULL.
 *
 * @param model borrowed
 * @param adamw betas, epsilon and weight decay; its learning rate is not looked at
 * @return to be given to optimizer_free()
 */
Optimizer *optimizer_new(Model *model, AdamW adamw);

/**
 * The same with another rule. Masters are there whatever the rule, and the workspace is the same.
 *
 * @param model borrowed
 * @param adamw as above; a rule takes of it what it needs
 * @param rule  rule_of() of rules.h; {0} for AdamW
 */
Optimizer *optimizer_new_as(Model *model, AdamW adamw, OptimizerRule rule);

/** Whether a parameter learns, and has states: its weight is here. */
static inline bool optimizer_has(const Param *param) {
    return param->weight != NULL;
}

/**
 * For a rule: a state of a parameter, zero, in memory of the optimizer's kind.
 *
 * @param optimizer the rule's
 * @param name      of the state; static
 * @param param     index in model->params
 * @param count     numbers
 * @param size      bytes of each: 4 for floats, 1 for codes
 * @return (count) device memory
 */
void *optimizer_state(Optimizer *optimizer, const char *name, int param, size_t count, size_t size);

/** For a rule: workspace for one list, of the size that workspace_bytes() counts. */
void *optimizer_list_space(Optimizer *optimizer, const char *name);

/**
 * Copies the weights into the masters, if there are any; call it after loading weights.
 */
void optimizer_take_weights(Optimizer *optimizer);

/** Frees the host side; device memory goes with the stack. NULL is fine. */
void optimizer_free(Optimizer *optimizer);

/**
 * One update of every parameter from its gradient, by the rule. Weight decay pulls on
 * matrices only: on a scale or a bias it would pull towards a wrong place. Where there are masters,
 * they are what is updated, and the weights stay as they were: to write them is a task of lab 05.
 * Of an offloaded model (offloaded.h) gradients come down before it, and weights go up after it,
 * written.
 *
 * @param optimizer     the states; t goes up by one
 * @param learning_rate of this step
 */
void optimizer_step(Optimizer *optimizer, float learning_rate);

/**
 * Clips by global norm: where the norm of all gradients together exceeds `max_norm`, scales them
 * down to it. Their direction stays.
 *
 *     grad *= max_norm / (norm + 1e-6)    where !(norm <= max_norm)
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
 *     constant:    rate
 *
 * From max on, cosine and linear give 0.
 */
float schedule_rate(const Schedule *schedule);

/** One optimizer step is done. */
void schedule_tick(Schedule *schedule);

#endif
