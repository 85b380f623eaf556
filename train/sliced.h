/**
 * @file sliced.h
 * @brief Optimizers of lab 07 on the slices of lab 14: Adafactor's sums, and bytes of states.
 * @ingroup train
 *
 * Moments in bytes need nothing here: the blocks of 256 numbers that share a scale lie in the
 * slice. Adafactor's means are those of whole rows and columns, and its root mean square is that of
 * a whole tensor. The rule of lab 07 works them out from a slice, and they are linear in it:
 *
 *     cut by rows      R is whole where it is; C = sum over ranks of (rows here / rows) C_r
 *     cut by columns   C is whole where it is; R = sum over ranks of (columns here / columns) R_r
 *
 * So a tensor that is cut takes two calls of the op. The first, with a learning rate of 0, makes
 * the means of the slice; those across the cut are summed. The second leaves them alone and makes
 * U of the slice, whose squares are summed, and then the weights take their part of U.
 */
#ifndef TRAIN_SLICED_H
#define TRAIN_SLICED_H

#include "labs/14_tensor/contract.h"
#include "train/grid.h"

/** Beside its states, all that Adafactor needs. */
typedef struct SlicedFactors {
    const TensorGroup *group; /**< borrowed */
    const Model *whole;       /**< whose shapes are those of the tensors; borrowed */
    float *update;            /**< U of one tensor: as long as the longest that is cut; workspace */
    TensorEntry *entries;     /**< weight, row, col, gradient of one tensor; workspace */
} SlicedFactors;

/**
 * Makes the step of an optimizer one of the whole model: from now on all ranks of the group step
 * together. Replicated tensors keep the same bits on each of them.
 *
 * @param[out] factors must stay where it is as long as the optimizer
 * @param      group   of the slices; borrowed
 * @param      slice   Adafactor's, of a slice
 * @param      whole   a model with the whole shapes; borrowed
 */
void sliced_factors_join(SlicedFactors *factors, const TensorGroup *group, Optimizer *slice,
                         const Model *whole);

/** Bytes of states of a slice, with the float masters of weights in half. */
size_t sliced_states(const TrainOptions *options, const Grid *grid);

/** Bytes of workspace beyond that of AdamW. */
size_t sliced_workspace(const TrainOptions *options, const Grid *grid);

/** Bytes that a rank gives to the sums of one step; they go round a ring as 2 (R - 1) / R each. */
size_t sliced_summed(const TrainOptions *options, const Grid *grid);

#endif
