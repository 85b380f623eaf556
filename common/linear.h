/**
 * @file linear.h
 * @brief The linear layers of a block, each as it runs in a pass: with an adapter, or in parts.
 * @ingroup common
 *
 *     out = in weight^T + bias
 *
 * A layer that is whole and has no adapter runs alone. One that has an adapter (lab 10), or of
 * which several ranks have a part each (lab 14), runs through model->linear_forward and
 * model->linear_backward, where a program that knows how has set them:
 *
 *     model->linear_forward = lora_forward;
 *
 * Of a layer in parts, forward must give the whole of what the rank's next op reads, and backward
 * the whole gradient of its input. With an adapter or in parts, backward finds `din` zero on entry.
 */
#ifndef COMMON_LINEAR_H
#define COMMON_LINEAR_H

#include "common/model.h"

/** See linear_of(). */
struct Linear {
    Pass *pass;     /**< in flight; its model has the ops, its memory the scratch */
    int layer;      /**< of which block */
    LinearId id;    /**< which of its linear layers */
    int N;          /**< rows: B * T of the pass */
    int IC;         /**< inputs of a row; where ranks share the layer, those that are here */
    int OC;         /**< outputs of a row; likewise */
    const Param *A; /**< (rank, IC) of its adapter; NULL where it has none */
    const Param *B; /**< (OC, rank) */
    Dropout mask;   /**< of the adapter's branch: written by forward, which draws it; backward is
                           given what was drawn */
};

/** The layer for the present batch; mask is {0}. */
Linear linear_of(Pass *pass, int layer, LinearId id);

/**
 * The layer alone, without its adapter. Writes.
 *
 * @param      linear which
 * @param[out] out    (N, OC); no overlap
 * @param[in]  in     (N, IC)
 */
void linear_base_forward(const Linear *linear, Real *out, const Real *in);

/**
 * Its backward: adds to din and, unless they are frozen, to the gradients of weight and bias.
 *
 * @param         linear which
 * @param[in,out] din    (N, IC), added to
 * @param[in]     dout   (N, OC)
 * @param[in]     in     (N, IC) as given to forward; NULL where the weight is frozen
 */
void linear_base_backward(const Linear *linear, Real *din, const Real *dout, const Real *in);

/** Whether it runs through model->linear_forward: with an adapter, or as a part. */
bool linear_is_joined(const Linear *linear);

/** The layer with its adapter, or its parts, if it has such and the model knows how; else alone. */
void linear_forward(Linear *linear, Real *out, const Real *in);

/**
 * Its backward: writes din, which no other layer adds to, and adds to the gradients of what is
 * trained.
 *
 * @param      linear which
 * @param[out] din    (N, IC)
 * @param[in]  dout   (N, OC)
 * @param[in]  in     (N, IC) as given to forward; may be NULL where model->dropped has the layer
 */
void linear_backward(const Linear *linear, Real *din, const Real *dout, const Real *in);

#endif
