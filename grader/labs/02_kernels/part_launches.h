/**
 * @file part_launches.h
 * @brief Lab 02 in the probe: calls of which nothing but the launches is of interest.
 * @ingroup grader
 *
 * For a simulator that runs no kernel (CUDASIM_DRY=1): a size can be as large as a whole number
 * goes, and no tensor has more than the bytes that its address needs.
 */
#ifndef GRADER_LABS_02_KERNELS_PART_LAUNCHES_H
#define GRADER_LABS_02_KERNELS_PART_LAUNCHES_H

#include "grader/probe.h"

/** Cases, one call each: "launches" is its KernelCase. Nothing is handed back. */
void launches_sumsq(const Wire *in, Wire *out);
void launches_adamw(const Wire *in, Wire *out);
void launches_crossentropy(const Wire *in, Wire *out); /* forward, then backward in place */
void launches_layernorm(const Wire *in, Wire *out);

#endif
