/**
 * @file part_launches.h
 * @brief Lab 09 in the probe: calls of which nothing but the launches is of interest.
 * @ingroup grader
 *
 * For a simulator that runs no kernel (CUDASIM_DRY=1): a size can be as large as a whole number
 * goes, and no tensor has more than the bytes that its address needs.
 */
#ifndef GRADER_LABS_09_FUSION_PART_LAUNCHES_H
#define GRADER_LABS_09_FUSION_PART_LAUNCHES_H

#include "grader/probe.h"

/** Cases, one call each: "many" is its rows and the numbers of each. Nothing is handed back. */
void launches_forward(const Wire *in, Wire *out);  /* residual_norm_forward() */
void launches_backward(const Wire *in, Wire *out); /* residual_norm_backward() */
void launches_clip(const Wire *in, Wire *out);     /* control_clip() */
void launches_control(const Wire *in, Wire *out);  /* control_adamw() */

#endif
