/**
 * @file shared.h
 * @brief What both probes of lab 12 do alike.
 * @ingroup grader
 */
#ifndef GRADER_LABS_12_ZERO_SHARED_H
#define GRADER_LABS_12_ZERO_SHARED_H

#include "grader/labs/12_zero/protocol.h"

/** AdamW, schedule and clipping as given; model and optimizer are not set. */
Trainer shared_settings(const RankRun *run, AdamW *adamw);

/** How the loss is scaled: with weights in f16 by a scaler. */
Mixed shared_mixed(const RankRun *run, Precision precision);

/** Micro-batch k of step s of a rank. */
Batch shared_batch(const RankRun *run, int s, int k, int rank);

/** The weight of each valid target of step s, the loss scale included. */
float shared_share(const RankRun *run, int s, const Mixed *mixed);

/** Whether that micro-batch of the rank is to have a gradient that is not finite, or large. */
bool shared_spoils(const RankRun *run, int s, int k, int rank);

/** Puts the one of step s into the model, where it has gradients. */
void shared_spoil(const RankRun *run, int s, const Model *model);

/** The rank's text so far, and its next token: the likeliest. */
typedef struct RankText {
    const RankRun *run;
    Model *model;
    float *logits; /**< (V) */
    int32_t ids[64], ignored[64];
    int known; /**< ids */
    int wanted, drawn, runs;
} RankText;

/** A text that begins with the rank's prompt. */
void shared_text(RankText *text, const RankRun *run, Model *model);

/** Whether all is drawn that is wanted. */
bool shared_text_done(void *text);

/** Runs the model once, and draws where it is not done. */
void shared_text_step(void *text);

/** Hands back the text. */
void shared_text_give(const RankText *text, int steps);

#endif
