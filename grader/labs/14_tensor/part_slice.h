/**
 * @file part_slice.h
 * @brief Lab 14 in the probe: a rank's slice of a model, and tensors that it is given and gives.
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_PART_SLICE_H
#define GRADER_LABS_14_TENSOR_PART_SLICE_H

#include "grader/probe.h"
#include "grader/probe_ranks.h"
#include "labs/14_tensor/contract.h"

/** A rank's slice of a model, with the program's pointers set: model->split points to it. */
typedef struct SliceRun {
    TensorGroup group; /**< first, since that is what the program finds there */
    RankRun *run;      /**< the rank */
    Model *model;      /**< its slice */
} SliceRun;

/** Makes the slice of a rank, with the weights and gradients that protocol.h gives it. */
void slice_run_open(SliceRun *slice, RankRun *run);

/** Evaluates one token by a smaller model of the same ranks: nothing of it may be left in the slice
    that is open. */
void slice_run_before(SliceRun *slice);

/** Waits for the device, and frees the slice. */
void slice_run_close(SliceRun *slice);

/** What this rank is given under a name: on the host, of the wire; how many into *n, or NULL. */
const float *slice_run_given(const RankRun *run, const char *what, size_t *n);

/** That on the device, in the storage type: an activation. */
Real *slice_run_real(const SliceRun *slice, const char *what);

/** An activation of n zeros on the device, in the storage type. */
Real *slice_run_room(const SliceRun *slice, size_t n);

/** Gives a tensor of the storage type to the judge under a name: as many as it wants. */
void slice_run_give_real(const SliceRun *slice, const char *what, const Real *from);

/** Gives a parameter's gradient to the judge under a name. */
void slice_run_give_grad(const SliceRun *slice, const char *what, const Param *param);

#endif
