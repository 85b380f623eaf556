/**
 * @file 02_kernels.h
 * @brief How the judge of lab 02 and its probe name the tensors of many calls of one op.
 * @ingroup grader
 *
 * A run of the probe makes many calls: one process for each would take longer than the kernels. The
 * tensor "cases" lists them, an array of KernelCase as WIRE_BYTES.
 */
#ifndef GRADER_PROBES_02_KERNELS_H
#define GRADER_PROBES_02_KERNELS_H

#include <stdio.h>

#include "grader/probes/profile.h"
#include "kernels/adamw.h"

/** One call. The ops on floats have N elements, and C = 1. */
typedef struct KernelCase {
    int32_t precision; /**< Precision */
    int32_t N;         /**< rows */
    int32_t C;         /**< columns: channels, or the vocabulary V */
    int32_t in_place;  /**< crossentropy_backward: dlogits is logits */
    int32_t t;         /**< adamw: step */
    float dloss;       /**< crossentropy_backward: upstream gradient */
    AdamW adamw;       /**< adamw: its numbers */
} KernelCase;

enum {
    KERNEL_PARTIALS = 1024, /**< sumsq: floats of the workspace */
};

/** "dlogits 3: f16 (33, 257)" in name[WIRE_NAME]. */
static inline const char *kernel_tensor(char *name, const char *tensor, int i,
                                        const KernelCase *c) {
    snprintf(name, WIRE_NAME, "%s %d: %s (%d, %d)", tensor, i,
             precision_name((Precision)c->precision), c->N, c->C);
    return name;
}

#endif
