/**
 * @file report.h
 * @brief What a training run tells while it goes on, and the summary at its end.
 * @ingroup common
 *
 * On a terminal the progress is one line that renews itself, elsewhere a plain line each time.
 * With an output folder, each of these lines is also a JSON object in `metrics.jsonl`, and the loss
 * becomes a picture, `loss.svg`.
 */
#ifndef COMMON_REPORT_H
#define COMMON_REPORT_H

#include <stdio.h>

#include "common/memory.h"

/** What a line of progress says. */
typedef struct Progress {
    int step;                 /**< updates done */
    int steps;                /**< updates in all */
    double loss;              /**< mean since the last line, nats per token */
    float grad_norm;          /**< of the last step, before clipping */
    float learning_rate;      /**< of the last step */
    float loss_scale;         /**< of the next step (lab 05); 0 for none */
    double tokens_per_second; /**< since the last line */
    size_t memory_now;        /**< bytes */
    size_t memory_peak;       /**< bytes */
} Progress;

/** What the summary compares, in every lab and every table. */
typedef struct Summary {
    double seconds;         /**< of training, validation and saving left out */
    size_t samples;         /**< sequences trained on */
    MemoryUse peak;         /**< counted */
    MemoryUse predicted;    /**< what labs 00 and 04 say */
    size_t padding;         /**< bytes lost to alignment at the peak */
    size_t overhead;        /**< bytes of the driver's own on the device */
    bool has_prediction;    /**< whether `predicted` is filled */
    double eval_loss;       /**< nats per token; NaN if there was no validation */
    double unigram_entropy; /**< of the text, nats per byte */
} Summary;

/** A report in progress. */
typedef struct Report Report;

/**
 * Begins a report.
 *
 * @param output_dir for metrics.jsonl and loss.svg, or NULL for neither; must exist
 * @param first_step 0, or the step that a resumed run goes on from: later lines of an older
 *                   metrics.jsonl are dropped, earlier ones kept
 * @return to be given to report_free(); NULL (and a line on stderr) if metrics.jsonl cannot be
 *         written
 */
Report *report_new(const char *output_dir, int first_step);

/** NULL is fine. */
void report_free(Report *report);

/** One line of progress. @return 0, or -1 with a line on stderr where it could not be written */
int report_progress(Report *report, const Progress *progress);

/**
 * An update that was skipped because a gradient was not finite (lab 05).
 *
 * @param report the report
 * @param step   the update that was tried, and will be again
 * @param scale  of the loss, from now on; 0 for none
 * @return 0, or -1 with a line on stderr
 */
int report_skip(Report *report, int step, double scale);

/** A validation. @return 0, or -1 with a line on stderr */
int report_eval(Report *report, int step, double loss);

/** Ends the renewing line, so that something else can be printed. */
void report_break(Report *report);

/**
 * Prints the summary and, with an output folder, draws loss.svg and adds a last object to
 * metrics.jsonl.
 *
 * @return 0, or -1 with a line on stderr; a picture that could not be drawn is only a line
 */
int report_summary(Report *report, const Summary *summary);

/** Prints bytes by kind, and their sum. */
void report_prediction(const MemoryUse *use);

/** Prints bytes by kind as they were counted in one step, beside those that were predicted. */
void report_measured(const MemoryUse *counted, const MemoryUse *predicted);

#endif
