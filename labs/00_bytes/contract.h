/**
 * @file contract.h
 * @brief The hole of lab 00: how many bytes a training step will take, from the shape alone.
 * @ingroup labs
 *
 * Tests hold these formulas equal to the counts of memory.h, to the byte, on unseen shapes.
 * N = B * T tokens; "numbers" are stored in the model's precision (4 or 2 bytes each), floats are
 * always 4 bytes. A row of logits takes logits_stride(V) numbers: V, and padding up to a multiple
 * of 64 (kernels/crossentropy.h).
 */
#ifndef LABS_00_BYTES_CONTRACT_H
#define LABS_00_BYTES_CONTRACT_H

#include "common/memory.h"

/** Task 1. The parameter count: elements of all parameters of a model (common/params.h has the
 * list). */
size_t bytes_params(const ModelConfig *config);

/**
 * Task 2. The bytes that stay for the whole training: weights, gradients, optimizer states. The
 * other kinds of the result are 0.
 *
 * Gradients are floats in every precision, and so is all that AdamW keeps: its two moments, and a
 * master of each weight where weights are stored in half.
 */
MemoryUse bytes_states(const ModelConfig *config);

/**
 * Task 3. The bytes that one block keeps between its forward and its backward (struct Block), its
 * output and input not included.
 *
 * @param config the model
 * @param B      sequences
 * @param T      tokens per sequence
 */
size_t bytes_block(const ModelConfig *config, int B, int T);

/**
 * Task 4. The most activation bytes at any one time of a plain step, gradients of activations
 * included: either when the head runs backward, or when the last block does.
 *
 * @param config the model
 * @param B      sequences
 * @param T      tokens per sequence
 */
size_t bytes_activations(const ModelConfig *config, int B, int T);

/**
 * Task 5. All kinds together, at the peak of a plain step. Data is one token and one target of 4
 * bytes each; workspace_bytes() gives what the device needs.
 *
 * @param config the model
 * @param B      sequences
 * @param T      tokens per sequence
 * @param device where it will run
 */
MemoryUse bytes_predict(const ModelConfig *config, int B, int T, const Device *device);

#endif
