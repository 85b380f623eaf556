/**
 * @file judge_training.h
 * @brief Judges of labs that train: what a check gives to the probe, the model in double beside it,
 * and how tensors that came back are compared, one for each parameter.
 * @ingroup grader
 *
 * The names of the inputs are in grader/probe_training.h. Arrays of P numbers hold all parameters,
 * end to end; they and all batches are freed with the check.
 */
#ifndef GRADER_JUDGE_TRAINING_H
#define GRADER_JUDGE_TRAINING_H

#include "common/optimizer.h"
#include "common/testkit/reference.h"
#include "grader/check.h"
#include "grader/probe_training.h"
#include "kernels/half.h"

enum { MOST_BATCHES = 16, MOST_SUSPECTS = 40, SECONDS = 20 };

/** The inputs of a check, and the place that its steps have reached. */
typedef struct Given {
    Check *check;
    const char *when; /**< what gradients are of: "step" or "window" */
    ModelConfig config;
    Batch batch[MOST_BATCHES];
    int batches;
    AdamW adamw;
    Schedule schedule;
    float max_norm;
    uint64_t seed;
    size_t P;             /**< elements of all parameters */
    float *start;         /**< (P) weights that are given */
    Reference *reference; /**< at the weights where the present step began */
    uint64_t drawn;       /**< counters of the dropout stream */
} Given;

/* ---- batches --------------------------------------------------------------------------------- */

/** B rows of T targets that all count. */
Batch batch_full(Check *check, int V, int B, int T);

/** Row b ends after `length` tokens, and a tenth of its targets are masked; the first stays. */
void batch_cut_row(Check *check, Batch *batch, int b, int length);

/**
 * As data.h makes of documents: row b has T - b * shorter tokens, and what batch_cut_row() leaves.
 */
Batch batch_ragged(Check *check, int V, int B, int T, int shorter);

/** The same with rows of any lengths. */
Batch batch_uneven(Check *check, int V, int B, int T);

/** A batch without any valid target. */
Batch batch_all_masked(Batch batch);

/** A batch with a single valid target. */
Batch batch_one_target(Batch batch);

/** Gives the probe "shapes", "tokens", "targets". */
void batches_give(Check *check, const Batch *batch, int batches);

/* ---- what is given --------------------------------------------------------------------------- */

/** Scales near 1, everything else near 0, nothing exactly there. */
void given_random_weights(Given *given);

/** Scales the last layer norm, and with it most of the gradients, so that their norm is below 1. */
void given_small_gradients(Given *given);

/** No clipping, the first step in a warm-up of 4; there are no batches yet. */
Given given_new(Check *check, ModelConfig config, const char *when);

/** Gives the probe all that is named in grader/probe_training.h. */
void given_give(const Given *given);

/** Of `times` steps or windows the tensors of that kind. */
void given_want(const Given *given, const char *what, int times);

/* ---- what came back -------------------------------------------------------------------------- */

/** Of one step or window, parameter i. */
const float *given_got(const Given *given, const char *what, int i, int time);

/** (P) the tensors of that kind that came back. */
double *given_got_all(const Given *given, const char *what, int time);

/** Whether a tensor was handed back; if not, it is still as the judge filled it. */
bool given_came_back(const Given *given, const char *what, int time);

/** Compares all tensors of a kind; suspects are (P) like `want`. */
bool given_expect(const Given *given, const char *what, int time, const double *want,
                  Tolerance tolerance, const Suspect *suspects, int count);

/** The next step begins at the weights that came back. */
void given_go_on(Given *given, int time);

/* ---- what is right --------------------------------------------------------------------------- */

/** Adds a batch to the reference's gradients, each valid target with `share`; the sum of losses. */
double given_pass(Given *given, const Batch *batch, double share);

/** (P) the reference's weights or gradients, end to end. */
double *given_end_to_end(const Given *given, double *const *tensor);

/** Scales (P) gradients whose norm is above the limit down to it; 0 for no limit. */
void given_clip(const Given *given, double *gradient, double limit);

/** The schedule's rate after that many ticks. */
double given_rate(const Given *given, int ticks);

/** AdamW's step t in double: (P) weights, m and v move on by the (P) gradients. */
void given_adamw(const Given *given, double *weights, double *m, double *v, const double *gradient,
                 double rate, int t);

/** (P) what `name` would be after an update at the rate that explains best what came back, from
   what it would be at rates 0 and 1: how far an update goes is proportional to its rate. */
double *given_at_own_rate(const Given *given, const char *name, int step, const double *at_zero,
                          const double *at_one);

/** Said where given_at_own_rate() explains an update. */
extern const char OTHER_RATE[];

/** Whether one of n numbers is NaN. */
bool values_have_nan(const double *values, size_t n);

#endif
