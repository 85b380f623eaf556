/**
 * @file part_second_trainer.h
 * @brief Lab 05 in the probe: a trainer with a scale of its own, whose model has adapters.
 * @ingroup grader
 */
#ifndef GRADER_LABS_05_FP16_PART_SECOND_TRAINER_H
#define GRADER_LABS_05_FP16_PART_SECOND_TRAINER_H

#include "grader/probe.h"

/** A case: three windows whose gradients are there already. `out` has "apart" (APARTS), see
    protocol.h; nothing is read from `in`. */
void second_trainer(const Wire *in, Wire *out);

#endif
