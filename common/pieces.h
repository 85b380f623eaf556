/**
 * @file pieces.h
 * @brief A model of which a rank has a piece of each parameter: what it updates.
 * @ingroup common
 *
 * Where ranks share gradients and optimizer states, each updates some of the numbers. An update
 * treats every number for itself, so the pieces of the parameters that are a rank's own make up a
 * model like any other, with shorter parameters: optimizer_new(), optimizer_step() and
 * model_zero_grad() work on it.
 *
 *     Model *pieces = pieces_new(whole, cut, length, weights, grads);
 *     Optimizer *optimizer = optimizer_new(pieces, adamw);
 *
 * model_upload_weight() of the whole model sets the piece of a weight that is absent, so fresh
 * weights and those of a file find their place.
 */
#ifndef COMMON_PIECES_H
#define COMMON_PIECES_H

#include "common/model.h"

/** The part of a tensor that is a rank's own. */
typedef struct Piece {
    size_t first; /**< its first number: place in the tensor */
    size_t count; /**< numbers; 0 where the rank has none of this tensor */
    size_t at;    /**< flat index of that number among all pieces of this rank, a multiple of
                       TENSOR_BLOCK; where the rank has none, that of the next piece */
} Piece;

/**
 * A model of pieces, which is whole->pieces from now on. Parameter i is a piece of parameter i of
 * the whole: a row of `count` numbers with its name, layer and kind. No pass can run on it.
 *
 * Its list of gradients takes the place of that of the whole, which must have none of its own
 * (part.grads is false). Where a piece ends before its last block does, the flat index has
 * places that are nobody's, and so it has beyond the last piece.
 *
 * @param whole   borrowed, as is all that it has
 * @param pieces  (param_count) `at` never falls
 * @param length  of the flat index, a multiple of TENSOR_BLOCK
 * @param weights (param_count) device memory of each piece, in the model's precision, at a multiple
 *                of 16 bytes; not NULL, even where it is empty. Borrowed
 * @param grads   (param_count) the same, floats
 * @return to be given to pieces_free() before the whole is freed
 */
Model *pieces_new(Model *whole, const Piece *pieces, size_t length, Real *const *weights,
                  float *const *grads);

/** Frees the host side. NULL is fine. */
void pieces_free(Model *pieces);

#endif
