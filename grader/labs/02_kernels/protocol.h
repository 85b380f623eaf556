/**
 * @file protocol.h
 * @brief How the judge of lab 02 and its probe name the tensors of many calls of one op.
 * @ingroup grader
 *
 * A run of the probe makes many calls: one process for each would take longer than the kernels. The
 * tensor "cases" lists them, an array of KernelCase as WIRE_BYTES.
 */
#ifndef GRADER_LABS_02_KERNELS_PROTOCOL_H
#define GRADER_LABS_02_KERNELS_PROTOCOL_H

#include "grader/wire.h"
#include "kernels/adamw.h"

/** One call. The ops on lists have N numbers in all, and C = 1. */
typedef struct KernelCase {
    int32_t precision; /**< Precision */
    int32_t N;         /**< rows */
    int32_t C;         /**< columns: channels, or the vocabulary V */
    int32_t stride;    /**< crossentropy: from one row of logits to the next */
    int32_t in_place;  /**< crossentropy_backward: dlogits is logits */
    int32_t t;         /**< adamw: step */
    float dloss;       /**< crossentropy_backward: upstream gradient */
    AdamW adamw;       /**< adamw: its numbers */
} KernelCase;

/** Every byte of partial sums before a call; as a float it is not a sum of anything. */
enum { PARTS_FILL = 0xA5 };

/** The tasks whose partial sums a later one adds up. Where one is a hole, and a later task is
    graded, the workspace gets the tensor "left" of the call, bytes as they should be there. */
enum { PARTIALS_OF_SUMSQ = 1, PARTIALS_OF_LAYERNORM = 7 };

/** Tensors that the N numbers of a case of sumsq or adamw are cut into, one after the other. */
enum { KERNEL_TENSORS = 5 };

/**
 * Where tensor i of the cut of N numbers begins; i = KERNEL_TENSORS gives N. The first tensor is
 * empty if N is small; then one number, a whole block or none, a part of one or none, and the rest.
 */
size_t kernel_begin(int N, int i);

/** The sizes of all. */
void kernel_cut(int N, size_t n[KERNEL_TENSORS]);

/** Whether weight decay pulls on tensor i of the cut: `decays` in the list of weights. All other
    lists have the opposite, so that who reads theirs is seen. */
bool kernel_decays(int i);

/** "dlogits 3: f16 (33, 257)" in name[WIRE_NAME]. */
const char *kernel_tensor(char *name, const char *tensor, int i, const KernelCase *c);

#endif
