/**
 * @file lab03.h
 * @brief The holes of lab 03: one large batch as several small ones.
 * @ingroup labs
 *
 *     gradient = (sum over the window's valid targets of the gradient of their loss)
 *                / (number of valid targets in the window)
 *
 * The divisor is the window's, not a micro-batch's, and it is known before the first backward:
 * data_window_tokens() counts ahead.
 */
#ifndef COMMON_LAB03_H
#define COMMON_LAB03_H

#include "common/trainer.h"

/** Tracks a window of micro-batches, so that a loop need not count. */
typedef struct Accumulator {
    Trainer *trainer;    /**< borrowed */
    int steps;           /**< micro-batches in a full window */
    int micro;           /**< micro-batches of the present window that are done */
    int window;          /**< micro-batches that the present window has; fewer at the data's end */
    size_t tokens;       /**< valid targets in the whole window */
    double loss;         /**< sum of the window's losses so far, nats */
    bool sync_gradients; /**< the window is complete: time to clip and step */
} Accumulator;

/**
 * Prepares an accumulator; no window is open.
 *
 * @param[out] accumulator to prepare
 * @param      trainer     borrowed
 * @param      steps       micro-batches per window, at least 1
 */
void accumulator_init(Accumulator *accumulator, Trainer *trainer, int steps);

/**
 * Trains on the rest of the data's present epoch, a window at a time: one clip, one update, one
 * tick of the schedule for each; the last window may be short.
 *
 * @param trainer model, optimizer, schedule
 * @param data    handed out up to the end of its epoch, or until `report` says stop
 * @param steps   micro-batches per window, at least 1
 * @param report  called after each update; returns false to stop
 * @param context given to it
 */
void train_epoch(Trainer *trainer, Data *data, int steps,
                 bool (*report)(void *context, const StepReport *step), void *context);

#endif
