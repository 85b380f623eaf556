/**
 * @file probe_training.h
 * @brief What the judges and probes of labs that train say to each other: names of tensors; and
 * what the probes do alike with what is given.
 * @ingroup grader
 *
 * Given are "config", "weights" (P floats, end to end), "adamw" (beta1, beta2, epsilon, decay),
 * "rate" (learning rate, clipping norm), "schedule" (decay, warm-up, steps), "seed", and batches
 * one after the other: "shapes" (B, T of each), "tokens", "targets".
 */
#ifndef GRADER_PROBE_TRAINING_H
#define GRADER_PROBE_TRAINING_H

#include "common/trainer.h"
#include "grader/param_name.h"
#include "grader/wire.h"
#include "kernels/base.h"

/** Counters that are drawn already from the dropout stream of a model in labs 04, 08 and 09: a few
    short of 2^32, so that a place that is kept in 32 bits is soon another one. */
#define DROPOUT_DRAWN (((uint64_t)1 << 32) - 64)

/** How many batches are given. */
int given_batches(const Wire *in);

/** Batch i of those that are given; borrowed from the table. */
Batch given_batch(const Wire *in, int i);

/** Uploads the weights that are given. */
void given_weights(const Wire *in, Model *model);

/**
 * A trainer of what is given: a model with its weights, the optimizer, the schedule, the clipping
 * norm.
 *
 * @param in     the table
 * @param memory where it lives
 */
Trainer given_trainer(const Wire *in, Memory *memory);

/** Copies device memory into the wanted tensor of that name, which has as many numbers. */
void hand_back(Wire *out, Device *device, const char *name, const float *values, size_t count);

/** Hands back all gradients of a model, by param_name(). */
void hand_back_gradients(Wire *out, const Model *model, const char *what, const char *when, int i);

#endif
