/**
 * @file range.h
 * @brief Some blocks of a pass as a model by themselves, for those who know whole models alone.
 * @ingroup common
 *
 * Gradient checkpointing (lab 04) runs a model from its embedding to its head. A pipeline's stage
 * has neither, or runs its own: between them, it has lab 04 run its blocks as if they were all:
 *
 *     Model *range = range_open(pass, first, last, x);
 *     checkpoint_forward(range, &batch);     // from x; its output is range->pass.x[last - first]
 *     checkpoint_backward(range, 0);         // from pass->dx to pass->dx
 *     range_close(range);
 */
#ifndef COMMON_RANGE_H
#define COMMON_RANGE_H

#include "common/model.h"

/**
 * The blocks first ... last - 1 of a pass, numbered from 0 on. Weights, gradients and workspace are
 * those of the pass's model, tensors come from the pass's memory, masks begin where its stream
 * stands. There is neither embedding nor head: those of its pass do nothing.
 *
 * @param pass  in flight, with `train`; borrowed
 * @param first the first block
 * @param last  the block after the last one
 * @param x     (B, T, C) input of block `first`, needed until backward is through; borrowed
 * @return to be given to range_close() before the pass ends
 */
Model *range_open(const Pass *pass, int first, int last, Real *x);

/** Frees the host side of a range whose pass is over. */
void range_close(Model *range);

#endif
