/**
 * @file part_many.h
 * @brief Lab 02 in the probe: calls of so much work that a few blocks of each launch run, no more.
 * @ingroup grader
 *
 * For a simulator that runs two blocks of a launch (CUDASIM_BLOCKS=2): profile_expect_whole(). The
 * tensors are there, and hold nothing.
 */
#ifndef GRADER_LABS_02_KERNELS_PART_MANY_H
#define GRADER_LABS_02_KERNELS_PART_MANY_H

#include "grader/probe.h"

/** Cases, one call each, of "many" numbers or rows. Nothing is handed back. */
void many_sumsq(const Wire *in, Wire *out);
void many_adamw(const Wire *in, Wire *out);
void many_crossentropy_forward(const Wire *in, Wire *out);
void many_crossentropy_backward(const Wire *in, Wire *out); /* in place */
void many_layernorm(const Wire *in, Wire *out);

#endif
