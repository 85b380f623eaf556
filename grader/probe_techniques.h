/**
 * @file probe_techniques.h
 * @brief What the submission's labs 04 and 05 change of a step, for the probes that train.
 * @ingroup grader
 */
#ifndef GRADER_PROBE_TECHNIQUES_H
#define GRADER_PROBE_TECHNIQUES_H

#include "common/trainer.h"

/**
 * Sets the trainer's three pointers, as `train` does: forward and backward through lab 04 where
 * trainer->model->checkpoint asks for it, the scaled loss and the update of lab 05 where there is
 * trainer->mixed.
 */
void probe_techniques(Trainer *trainer);

#endif
