/**
 * @file offloaded.h
 * @brief Pieces of a model in host memory: there an optimizer keeps its states, and updates them.
 * @ingroup common
 *
 * Moments and masters are read and written once in an update, and lie idle for the rest of it.
 * Where the device's memory is short, they stay with the host, and there the CPU's op makes the
 * update:
 *
 *     Model *host = offloaded_new(pieces);
 *     Optimizer *optimizer = optimizer_new(host, adamw);
 *     ...
 *     optimizer_step(optimizer, rate);     // gradients come down, weights go up
 *
 * To the optimizer, to checkpoints and to twins (twin.h) it is a model like any other, whose device
 * is a CPU. Its bytes are counted by kind in a memory of its own, which has no budget. The device
 * has weights and gradients as before, and no states:
 *
 *     for each number of the pieces    a copy of weight and gradient, the states, the master
 *     beside them                      four lists, scratch memory for weights in half
 *
 * Gradients come down when they have been clipped, for the limit is one for all of them: so nothing
 * is left of backward that the copies could run beside. On the CPU the update has the bits of one
 * without offload, since it is the same op on the same numbers. On a GPU it has those of the CPU's
 * op. That is the same formula, but each compiler fuses other products and sums of it (fma): so
 * last digits differ from those of the kernel.
 */
#ifndef COMMON_OFFLOADED_H
#define COMMON_OFFLOADED_H

#include "common/model.h"

/**
 * A model in host memory with the parameters of another: as weights and gradients go, zero. It is
 * pieces->offloaded from now on.
 *
 * @param pieces a model of pieces; borrowed
 * @return to be given to offloaded_free()
 */
Model *offloaded_new(Model *pieces);

/** Frees it, with its memory and all that was allocated there. NULL is fine. */
void offloaded_free(Model *offloaded);

/** Brings the weights of the pieces down; waits for what the device still does. */
void offloaded_take_weights(Model *offloaded);

/** The same for their gradients. */
void offloaded_take_grads(Model *offloaded);

/** Brings the weights up again. */
void offloaded_give_weights(const Model *offloaded);

/**
 * Bytes by kind in host memory, once there is an optimizer.
 *
 * @param config the model
 * @param count  numbers of the pieces
 * @param states bytes of the optimizer's states of these pieces, masters among them
 */
MemoryUse offloaded_bytes(const ModelConfig *config, size_t count, size_t states);

#endif
