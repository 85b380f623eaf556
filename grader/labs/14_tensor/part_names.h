/**
 * @file part_names.h
 * @brief Lab 14 in the probe: whether the tensors of embedding and head have their names.
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_PART_NAMES_H
#define GRADER_LABS_14_TENSOR_PART_NAMES_H

#include "labs/14_tensor/contract.h"

/**
 * From here on the passes of a SliceRun's model look at what embedding and head allocate, and what
 * the head keeps: names and kinds as the contract says, else the check fails with a sentence.
 *
 * @param model of a SliceRun
 */
void look_at_names(Model *model);

#endif
