/**
 * @file windows.h
 * @brief Judges of labs that train by windows of micro-batches: what is given, a window worked out
 * in double, and how an update is compared. A step of lab 01 is a window of one.
 * @ingroup grader
 *
 * Each window is judged from where the one before really ended, so that a mistake is counted once:
 * gradients at the weights that came back, weights and moments from the gradients that came back.
 * The other side is grader/probe_windows.h.
 */
#ifndef GRADER_WINDOWS_H
#define GRADER_WINDOWS_H

#include "grader/judge_training.h"
#include "grader/probe_watch.h"
#include "grader/probe_windows.h"

/** The inputs of a check, and the place that its windows have reached. */
typedef struct Windows {
    Given given;                    /**< its batches are the micro-batches of an epoch */
    int micros;                     /**< of a full window; the last of an epoch has what is left */
    int epochs;                     /**< times that the batches are gone through: 1 */
    int stop;                       /**< windows after which it ends; 0: when the epochs do */
    int32_t option[WINDOW_OPTIONS]; /**< of the probe */
    double *m;                      /**< (P) first moments of the windows so far */
    double *v;                      /**< (P) second moments */
} Windows;

/** Nothing but a model yet: no batches, no clipping; `when` is "step" or "window". */
Windows windows_new(Check *check, ModelConfig config, const char *when, int micros);

/** Frees the reference; all else is freed with the check. */
void windows_free(Windows *windows);

/** Windows that should come. */
int windows_count(const Windows *windows);

/** The first micro-batch of a window. */
int windows_first(const Windows *windows, int number);

/** Micro-batches of a window. */
int windows_size(const Windows *windows, int number);

/** Gives all that is given, and wants "grad_norm", "learning_rate", and tensors by WANT_... */
void windows_give(Windows *windows, int wants);

/** Wants what window_give_report() hands back beside these. */
void windows_want_reports(const Windows *windows);

/* ---- a window in double ---------------------------------------------------------------------- */

/** One window, worked out: the sums of its single micro-batches. */
typedef struct Window {
    int number;                /**< from 0 on, over all epochs */
    int first;                 /**< its first micro-batch */
    int count;                 /**< its micro-batches */
    int micros;                /**< of a full window */
    double left;               /**< valid targets from here to the end of the epoch */
    double next;               /**< valid targets of the micro-batch after it; 0 at the end */
    double valid;              /**< valid targets */
    double padded;             /**< all targets */
    double rows;               /**< sequences */
    double n[MOST_BATCHES];    /**< valid targets of each micro-batch */
    double loss[MOST_BATCHES]; /**< sum of losses of each */
    double *sum[MOST_BATCHES]; /**< (P) gradient of that sum */
} Window;

/** The weight of each valid target of micro-batch k, right or mistaken. */
typedef double Weight(const Window *w, int k);

double weight_right(const Window *w, int k);         /**< 1 / valid; 0 where that is 0 */
double weight_one(const Window *w, int k);           /**< the sum is not divided */
double weight_divided_twice(const Window *w, int k); /**< 1 / valid^2 */
double weight_by_padded(const Window *w, int k);     /**< 1 / all targets */
double weight_by_rows(const Window *w, int k);       /**< 1 / sequences */

/** a / b, and 0 where b is 0. */
double weight_over(double a, double b);

/** The window that has this number, at the weights that the reference has. */
Window windows_work_out(Windows *windows, int number);

/** (P) Adds micro-batches `from` to `to` with their weights to the values. */
void window_add(const Windows *windows, const Window *w, Weight *weight, int from, int to,
                double *values);

/** (P) The window's gradient with these weights, clipped to the limit; 0 for none. */
double *window_gradient(const Windows *windows, const Window *w, Weight *weight, double limit);

/** The window's loss with these weights. */
double window_loss(const Window *w, Weight *weight);

/** (P) factor * values + more; `more` may be NULL. */
double *windows_scaled(const Windows *windows, double factor, const double *values,
                       const double *more);

/* ---- comparing ------------------------------------------------------------------------------- */

/** Whether the optimizer stepped in a window; if not, the check fails with the sentence. */
bool windows_stepped(const Windows *windows, int number, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));

/** (P) the weights that the reference has. */
double *windows_weights(const Windows *windows);

/**
 * An update in double, by the gradients that came back.
 *
 * @param windows with the moments before it; with `keep` they move on
 * @param number  whose gradients
 * @param weights (P) before it
 * @param rate    learning rate
 * @param t       AdamW's step, from 1 on
 * @param keep    whether this is the right one
 * @return (P) the weights after it
 */
double *windows_updated(Windows *windows, int number, const double *weights, double rate, int t,
                        bool keep);

/** The mistake of another rate than the schedule's, for tensors called `name` ("new ..."). */
Suspect windows_other_rate(Windows *windows, int number, const char *name, const double *weights);

/** Compares m and v with the right ones. `suspects` (count) are for m. */
bool windows_expect_moments(const Windows *windows, int number, const Suspect *suspects, int count);

/** That no gradient is left when a window ends. */
void windows_expect_zero(const Windows *windows, int number);

/** That no report says of its window that the update was skipped. */
bool windows_expect_unskipped(const Windows *windows);

#endif
