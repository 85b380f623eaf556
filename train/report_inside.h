/**
 * @file report_inside.h
 * @brief The inside of a report: report.c tells of progress, report_summary.c of the end.
 * @ingroup train
 */
#ifndef TRAIN_REPORT_INSIDE_H
#define TRAIN_REPORT_INSIDE_H

#include <jansson.h>

#include "train/report.h"

/** A loss after some updates. */
typedef struct Point {
    int step;    /**< updates */
    double loss; /**< nats per token */
} Point;

/** Losses in the order in which they came. */
typedef struct Curve {
    Point *points; /**< owned */
    size_t count;  /**< of them */
    size_t room;   /**< points that the array can hold */
} Curve;

/** See report.h. */
struct Report {
    char *metrics_path;     /**< or NULL: not written */
    bool metrics_in_folder; /**< the report has chosen that name, in the output folder */
    char *picture_path;     /**< the same, of the loss */
    FILE *metrics;          /**< open to append, or NULL */
    bool terminal;          /**< the line renews itself */
    bool line_open;         /**< it is not ended */
    int first_step;         /**< that the run goes on from */
    double began;           /**< on the clock */
    double told;            /**< the last line */
    RunShape shape;         /**< report_shape() */
    Curve train;            /**< losses of lines */
    Curve eval;             /**< of validations */
};

/** Writes one line to the metrics, where there are any; takes the object. @return 0, or -1 with a
 * line on stderr */
int report_write(Report *report, json_t *json);

/** JSON has no NaN and no infinity: they become null. */
json_t *report_number(double value);

#endif
