/**
 * @file probe_watch.h
 * @brief A training step seen from beside: ops and device of a model are called through tables, and
 * those put there write down what they are called for before they do it.
 * @ingroup grader
 *
 * On every device: the tokens of a forward pass are fetched from it, to tell which batch they are.
 */
#ifndef GRADER_PROBE_WATCH_H
#define GRADER_PROBE_WATCH_H

#include "common/model.h"

/** The events of a step, as its trace lists them. */
typedef enum Event {
    EVENT_NONE,     /**< the trace is over */
    EVENT_LOOK,     /**< a forward pass that keeps nothing: model_evaluate() */
    EVENT_BACKWARD, /**< gradients are added */
    EVENT_NORM,     /**< the norm of the gradients: optimizer_clip() begins with it */
    EVENT_SCALE,    /**< the gradients are scaled: where they are too large, it ends with this */
    EVENT_STEP,     /**< optimizer_step() */
    EVENT_ZERO,     /**< model_zero_grad() */
    EVENT_FORWARD = 100,  /**< forward of batch 0; the next numbers are the next ones */
    EVENT_STRANGER = 999, /**< forward of something that was not given */
} Event;

/** Events of one step that are kept. */
enum { TRACE_LENGTH = 48 };

/**
 * Watches a model. One at a time.
 *
 * @param model   its table of ops and its device's are changed
 * @param batches (count) what forward may be called with; borrowed
 * @param count   how many
 */
void watch_model(Model *model, const Batch *batches, int count);

/** Writes an event into the trace. */
void watch_note(Event event);

/** Whether the trace has it. */
bool watch_noted(Event event);

/** Copies the trace out, 0 after its end, and begins a new one. */
void watch_take(uint64_t trace[TRACE_LENGTH]);

#endif
