/**
 * @file shared.h
 * @brief What lab 10's two probes do alike: passes of a model, with adapters or without.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_SHARED_H
#define GRADER_LABS_10_LORA_SHARED_H

#include "common/trainer.h"
#include "grader/labs/10_lora/protocol.h"

/** The parts of a run that the two probes do each in a way of its own. */
typedef struct RunBy {
    void (*begin)(const Wire *in, Model *model); /**< gives adapters their numbers, and sets them */
    double (*forward)(Model *model, const Batch *batch);
    void (*backward)(Model *model, float dloss);
    bool bare;     /**< the model without adapters */
    size_t budget; /**< bytes; 0 for no limit */
} RunBy;

/** A number of "options". */
int given_number(const Wire *in, int which);

/** Uploads numbers that are given, end to end, as the parameters of a list. */
void given_params(Model *model, Param *params, int count, const float *from);

/** The reverse, into a wanted tensor. */
void hand_back_params(Wire *out, const char *name, const Model *model, const Param *params,
                      int count);

/**
 * Runs the given batches: hands back the bits of each loss, the place in the dropout stream, logits
 * of the first batch, the gradients of the first window, and all weights at the end.
 */
void lora_passes(const Wire *in, Wire *out, const RunBy *by);

#endif
