/**
 * @file contract.h
 * @brief The holes of lab 03: one large batch as several small ones, on three levels.
 * @ingroup labs
 *
 *     gradient = (sum over the window's valid targets of the gradient of their loss)
 *                / (number of valid targets in the window)
 *
 * The divisor is the window's, not a micro-batch's, and it is known before the first backward:
 * data_window_tokens() counts ahead. A window without any valid target has gradient 0, loss 0, and
 * steps even so. A micro-batch without any adds nothing and may be left out; with dropout,
 * those after it then draw other masks. One clip, one update, one tick of the schedule for each
 * window.
 *
 * A technique may bring its own end of a window (trainer->update, as lab 05 does for weights in
 * half), which takes the place of clip, update and zero; the given code around the holes sees to
 * that.
 */
#ifndef LABS_03_ACCUMULATE_CONTRACT_H
#define LABS_03_ACCUMULATE_CONTRACT_H

#include "common/trainer.h"

/**
 * Level 1, by hand: a window of micro-batches that are all there already.
 *
 * Forward and backward of each, in their order, through trainer_forward() and trainer_backward();
 * then clip, update, gradients back to zero, and after that one tick (none where the update was
 * skipped, report.skipped).
 *
 * @param trainer model, optimizer, schedule
 * @param batches (count) host memory
 * @param count   micro-batches of the window, at least 1
 * @return loss in nats per valid target of the whole window, norm before clipping, rate used, valid
 *         targets
 */
StepReport accumulate_window(Trainer *trainer, const Batch *batches, int count);

/** Level 2: tracks a window of micro-batches, so that a loop need not count. All that it knows
    stands in it: several may have a window open at the same time, and one serves any number of
    windows, epochs and data. */
typedef struct Accumulator {
    Trainer *trainer; /**< borrowed */
    union {
        int micros; /**< micro-batches in a full window */
        int steps __attribute__((deprecated("it is called micros"))); /**< the former name */
    };
    int micro;           /**< micro-batches of the window that are done; 0 while none is open */
    int window;          /**< micro-batches that the present window has; fewer at the data's end; 0
                              while no window is open */
    size_t tokens;       /**< valid targets in the whole window */
    double loss;         /**< sum of the window's losses so far, nats */
    bool sync_gradients; /**< the window is complete: time for accumulator_step() */
} Accumulator;

/**
 * Prepares an accumulator; no window is open.
 *
 * @param[out] accumulator to prepare
 * @param      trainer     borrowed
 * @param      micros      micro-batches per window, at least 1
 */
void accumulator_init(Accumulator *accumulator, Trainer *trainer, int micros);

/**
 * Opens a window: looks ahead in the data, how many micro-batches it will have (fewer than `micros`
 * where the data end) and how many valid targets. Called before the first of them is handed out.
 *
 * @param accumulator no window may be open
 * @param data        the data that the window's micro-batches will come from
 * @return false where the data have no micro-batch left in this epoch; then no window is open
 */
bool accumulator_open(Accumulator *accumulator, const Data *data);

/**
 * One micro-batch of the open window: forward, and backward with the window's share. Sets
 * sync_gradients with the last one.
 *
 * @param accumulator a window is open and not complete
 * @param batch       host memory
 */
void accumulator_micro(Accumulator *accumulator, const Batch *batch);

/**
 * Ends a complete window: clip, update with the schedule's rate, gradients back to zero. Does not
 * tick the schedule.
 *
 * @param accumulator sync_gradients is set; no window is open afterwards
 * @return as accumulate_window()
 */
StepReport accumulator_step(Accumulator *accumulator);

/**
 * Level 3, by arguments: trains on the rest of the data's present epoch, a window at a time; the
 * first begins where the data stand, and nothing may be left. Opens each window before its first
 * micro-batch is handed out, wraps level 2 around the micro-batches, and ticks the schedule once
 * for each window (unless its update was skipped, report.skipped: it is reported even so, and the
 * next one follows).
 *
 * @param trainer model, optimizer, schedule
 * @param data    handed out up to the end of its epoch, or until `report` says stop
 * @param micros  micro-batches per window, at least 1
 * @param report  called after each window and its tick; returns false to stop
 * @param context given to it
 */
void train_epoch(Trainer *trainer, Data *data, int micros,
                 bool (*report)(void *context, const StepReport *step), void *context);

#endif
