/**
 * @file sizes.h
 * @brief The judge of lab 14: bytes of a rank and on the wire, worked out for a slice of a model.
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_SIZES_H
#define GRADER_LABS_14_TENSOR_SIZES_H

#include "common/memory.h"
#include "grader/shape.h"

/** Numbers of all parameters of a rank. */
size_t sizes_numbers(const ModelConfig *config, int R, int rank);

/** Weights, gradients and states of a rank. */
MemoryUse sizes_states(const ModelConfig *config, int R, int rank);

/** Bytes of a rank's activations at the peak, tensor by tensor. */
size_t sizes_activations(const Shape *shape, int R, int rank);

/** Bytes that all ranks send in a pass. */
size_t sizes_wire(const Shape *shape, int R);

#endif
