/**
 * @file replay.h
 * @brief The reference on a trainer's heels: the same weights, windows, masks and clipping, in
 * double.
 * @ingroup grader
 *
 *     Replay replay = replay_new(&config, seed);
 *     replay_weights(&replay, model);              // where a window begins, or before its update
 *     reference_zero_grad(replay.reference);
 *     loss = replay_window(&replay, batches, count);
 *     norm = replay_clip(&replay, max_grad_norm);
 *
 * Gradients of all parameters stand end to end, in the order of model->params.
 */
#ifndef COMMON_TESTKIT_REPLAY_H
#define COMMON_TESTKIT_REPLAY_H

#include "common/model.h"
#include "common/testkit/compare.h"
#include "common/testkit/reference.h"

/** A reference, and how far the dropout stream is that it replays. */
typedef struct Replay {
    Reference *reference; /**< its own */
    uint64_t seed;        /**< of the model's dropout stream */
    uint64_t drawn;       /**< counters of the stream so far */
} Replay;

/** A replay at the beginning of the stream. To be given to replay_free(). */
Replay replay_new(const ModelConfig *config, uint64_t seed);

/** Frees the reference. */
void replay_free(Replay *replay);

/** The reference has the model's weights, rounded as they are. */
void replay_weights(Replay *replay, const Model *model);

/**
 * A window of micro-batches: adds its gradients, and moves on in the stream.
 *
 * @return the mean loss of its valid targets, in nats; 0 without any
 */
double replay_window(Replay *replay, const Batch *batches, int count);

/**
 * Moves on in the stream as replay_window(), and computes nothing: for a window that is skipped.
 */
void replay_skip(Replay *replay, const Batch *batches, int count);

/** Clips the gradients by global norm, as optimizer_clip(). @return the norm before */
double replay_clip(Replay *replay, double limit);

/** All gradients of the reference; to be freed. */
double *replay_gradients(const Replay *replay);

/** All gradients of a model on any device; to be freed. */
float *gradients_of(const Model *model);

/**
 * Compares gradients parameter by parameter, each held to its own size by tolerance_of_model().
 *
 * @param      config whose
 * @param[in]  got    end to end
 * @param[in]  want   end to end
 * @param[out] name   of the parameter that is meant
 * @return of the parameter that used most of its limit, or of one that fails
 */
Comparison compare_gradients(const ModelConfig *config, const float *got, const double *want,
                             const char **name);

#endif
