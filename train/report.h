/**
 * @file report.h
 * @brief What a training run tells while it goes on, and the summary at its end.
 * @ingroup train
 *
 * On a terminal the progress is one line that renews itself, elsewhere a plain line each time.
 * With an output folder, each of these lines is also a JSON object in `metrics.jsonl`, or in the
 * file that `--metrics` names, and the loss becomes a picture, `loss.svg`.
 */
#ifndef TRAIN_REPORT_H
#define TRAIN_REPORT_H

#include <stdio.h>

#include "common/device.h"
#include "common/memory.h"
#include "common/params.h"

/** The content of a line of progress. */
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

/** The shape of a run, in the letters of the course's formulas. */
typedef struct RunShape {
    ModelConfig config; /**< V, L, NH, C, precision, attention */
    int B;              /**< sequences in a micro-batch */
    int T;              /**< tokens in a sequence, at most */
    int K;              /**< micro-batches in an update, on each rank */
    int R;              /**< ranks */
    int S;              /**< blocks in a segment; 0: nothing is run again */
    size_t P;           /**< parameters */
} RunShape;

/** Bytes of one rank, counted and by the labs' formulas. */
typedef struct RankFigures {
    MemoryUse counted;        /**< bytes by kind at its peak */
    MemoryUse predicted;      /**< the same by the formulas */
    MemoryUse host;           /**< in host memory, of --offload_optimizer */
    MemoryUse predicted_host; /**< the same by the formulas */
    double sent;              /**< bytes to other ranks in a window; 0 where nobody counts */
    double predicted_sent;    /**< of a full window, by the formulas; 0 where there is none */
    bool short_windows;       /**< some had fewer sequences, as at the end of an epoch */
} RankFigures;

/** The figures that the summary compares, in every lab and every table. */
typedef struct Summary {
    const Device *device;     /**< what it ran on */
    double seconds;           /**< of training, validation and saving left out */
    size_t samples;           /**< sequences trained on */
    MemoryUse peak;           /**< counted */
    MemoryUse predicted;      /**< what labs 00 and 04 say */
    size_t padding;           /**< bytes lost to alignment at the peak */
    size_t overhead;          /**< bytes of the driver's own on the device */
    bool has_prediction;      /**< whether `predicted` is filled, here and of each rank */
    const RankFigures *ranks; /**< (rank_count) of each rank, or NULL where there is one */
    int rank_count;           /**< ranks */
    double eval_loss;         /**< nats per token; NaN if there was no validation */
    double unigram_entropy;   /**< of the text, nats per byte */
    double first_loss;        /**< of this run's first update, nats per token */
    int updates;              /**< done */
    int skipped;              /**< updates that were tried and not done (lab 05) */
    uint64_t block_forwards;  /**< forwards of a block in training */
} Summary;

/** A report in progress. */
typedef struct Report Report;

/**
 * Begins a report.
 *
 * @param output_dir for metrics.jsonl and loss.svg, or NULL for neither; must exist
 * @param metrics    a file in the place of that metrics.jsonl, or NULL
 * @param first_step 0, or the step that a resumed run goes on from: later lines of older metrics
 *                   are dropped, earlier ones kept
 * @return to be given to report_free(); NULL (and a line on stderr) if the metrics cannot be
 *         written
 */
Report *report_new(const char *output_dir, const char *metrics, int first_step);

/** Sets the shape, for the last object of the metrics. Called once, before anything else. */
void report_shape(Report *report, const RunShape *shape);

/** Each line of progress stands by itself, as where the output is not a terminal: that which mpirun
 * passes on looks like one. */
void report_in_lines(Report *report);

/** NULL is fine. */
void report_free(Report *report);

/** One line of progress. @return 0, or -1 with a line on stderr where it could not be written */
int report_progress(Report *report, const Progress *progress);

/** After an update without a line: one with the time left, where there has been none for long. */
void report_between(Report *report, int step, int steps);

/** Says before the first step that each access will be looked at, where that is so. */
void report_check_mode(const Device *device);

/**
 * An update that was skipped because a gradient was not finite (lab 05).
 *
 * @param report the report
 * @param step   the update that was tried, and will be again
 * @param before scale of the loss until now
 * @param scale  from now on; 0 for none
 * @return 0, or -1 with a line on stderr
 */
int report_skip(Report *report, int step, double before, double scale);

/** A scale of the loss that has grown after an update; the parameters as for report_skip(). */
int report_scale(Report *report, int step, double before, double scale);

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

/**
 * Prints rank 0's predicted bytes by kind, their sum, and which rank takes most.
 *
 * @param report     where it is also written, as the last line
 * @param device     whose memory it is
 * @param ranks      (rank_count), of which `predicted` is filled
 * @param rank_count ranks of the run, at least 1
 * @return 0, or -1 with a line on stderr
 */
int report_prediction(Report *report, const Device *device, const RankFigures *ranks,
                      int rank_count);

/** Prints bytes by kind as counted in one step, beside the predicted ones. @return as above */
int report_measured(Report *report, const Device *device, const MemoryUse *counted,
                    const MemoryUse *predicted);

#endif
