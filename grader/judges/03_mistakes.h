/**
 * @file 03_mistakes.h
 * @brief The judge's part of lab 03: windows in double, from the sums of their single
 * micro-batches, and from the same sums what every known mistake would give.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_03_MISTAKES_H
#define GRADER_JUDGES_03_MISTAKES_H

#include "grader/judges/03_case.h"

/* One window, worked out. */
typedef struct Window {
    int number;                 /* from 0 on, over all epochs */
    int first, count;           /* its micro-batches */
    int steps;                  /* of a full window */
    double left;                /* valid targets from here to the end of the epoch */
    double valid, padded, rows; /* in the whole window: valid targets, all targets, sequences */
    double n[MOST_BATCHES];     /* valid targets of each micro-batch */
    double loss[MOST_BATCHES];  /* sum of losses of each */
    double *sum[MOST_BATCHES];  /* (P) gradient of that sum */
} Window;

/* ---- what is right, and what known mistakes give --------------------------------------------- */

/* The window that has this number, at the weights that the reference has. */
static inline Window work_out(Case *it, int number) {
    int first = first_of(it, number);
    Window window = {
        .number = number, .first = first, .count = count_of(it, number), .steps = it->steps};
    for (int i = first; i < it->given.batches; i++) {
        window.left += it->given.batch[i].valid;
    }
    for (int k = 0; k < window.count; k++) {
        const Batch *batch = &it->given.batch[first + k];
        reference_zero_grad(it->given.reference);
        window.loss[k] = pass(&it->given, batch, 1);
        window.sum[k] = end_to_end(&it->given, it->given.reference->grad);
        window.n[k] = batch->valid;
        window.valid += batch->valid;
        window.padded += batch->B * batch->T;
        window.rows += batch->B;
    }
    return window;
}

static inline double over(double a, double b) {
    return b > 0 ? a / b : 0;
}

/* What micro-batch k of a window counts, rightly and by mistake. */
typedef double Weight(const Window *w, int k);

static inline double right(const Window *w, int k) {
    (void)k;
    return over(1, w->valid);
}
static inline double not_divided(const Window *w, int k) {
    (void)w, (void)k;
    return 1;
}
static inline double divided_twice(const Window *w, int k) {
    return right(w, k) * right(w, k);
}
static inline double and_by_micros(const Window *w, int k) {
    return right(w, k) / w->count;
}
static inline double and_by_steps(const Window *w, int k) {
    return right(w, k) / w->steps;
}
static inline double mean_of_means(const Window *w, int k) {
    return over(1, w->n[k]) / w->count;
}
static inline double mean_of_full_means(const Window *w, int k) {
    return over(1, w->n[k]) / w->steps;
}
static inline double sum_of_means(const Window *w, int k) {
    return over(1, w->n[k]);
}
static inline double partial_as_full(const Window *w, int k) {
    return right(w, k) * w->count / w->steps;
}
static inline double times_micros(const Window *w, int k) {
    return right(w, k) * w->count;
}
static inline double padding_counted(const Window *w, int k) {
    (void)k;
    return 1 / w->padded;
}
static inline double by_rows(const Window *w, int k) {
    (void)k;
    return 1 / w->rows;
}
static inline double by_micros(const Window *w, int k) {
    (void)k;
    return 1.0 / w->count;
}
static inline double by_epoch(const Window *w, int k) {
    (void)k;
    return over(1, w->left);
}
static inline double last_only(const Window *w, int k) {
    return k == w->count - 1 ? right(w, k) : 0;
}
static inline double last_mean(const Window *w, int k) {
    return k == w->count - 1 ? over(1, w->n[k]) : 0;
}
static inline double first_only(const Window *w, int k) {
    return k == 0 ? right(w, k) : 0;
}
static inline double all_but_last(const Window *w, int k) {
    return k < w->count - 1 ? right(w, k) : 0;
}
static inline double all_but_first(const Window *w, int k) {
    return k > 0 ? right(w, k) : 0;
}
static inline double first_each_time(const Window *w, int k) {
    return k == 0 ? right(w, k) * w->count : 0;
}
static inline double last_each_time(const Window *w, int k) {
    return k == w->count - 1 ? right(w, k) * w->count : 0;
}
static inline double last_twice(const Window *w, int k) {
    return right(w, k) * (k == w->count - 1 ? 2 : 1);
}
static inline double first_not_counted(const Window *w, int k) {
    (void)k;
    return over(1, w->valid - w->n[0]);
}
static inline double last_not_counted(const Window *w, int k) {
    (void)k;
    return over(1, w->valid - w->n[w->count - 1]);
}
/* 1 / (n_0 + ... + n_k) */
static inline double seen_so_far(const Window *w, int k) {
    double seen = 0;
    for (int i = 0; i <= k; i++) {
        seen += w->n[i];
    }
    return over(1, seen);
}

static const struct {
    const char *sentence;
    Weight *weight;
} mistakes[] = {
    {"the sum is not divided: each valid target counts 1 / (valid targets of the window)",
     not_divided},
    {"it is divided by the window's valid targets twice", divided_twice},
    {"it is a mean of means: each micro-batch is divided by its own valid targets and by their "
     "number, so a target in a short one counts more. Divide by the window's valid targets",
     mean_of_means},
    {"each micro-batch is divided by its own valid targets only: these are the means added up, not "
     "the window's mean",
     sum_of_means},
    {"it is divided by the number of micro-batches once more: the window's valid targets are all "
     "that it is divided by",
     and_by_micros},
    {"the last window is shorter, and still scaled as a full one: its sum is divided by its own "
     "valid targets, and by nothing else",
     partial_as_full},
    {"means of micro-batches divided by `steps`, although this window has fewer",
     mean_of_full_means},
    {"it is divided by `steps` once more: the window's valid targets are all that it is divided by",
     and_by_steps},
    {"it is multiplied by the number of micro-batches", times_micros},
    {"padding and masked targets are counted: divide by the valid targets, not by B * T",
     padding_counted},
    {"it is divided by the number of sequences, not by the valid targets", by_rows},
    {"the sum is divided by the number of micro-batches, not by the valid targets", by_micros},
    {"it is divided by the valid targets of the whole epoch from here on, not of this window",
     by_epoch},
    {"each micro-batch is divided by the targets seen so far: the window's total must be known "
     "before the first backward",
     seen_so_far},
    {"the first micro-batch's targets are not counted in what the sum is divided by",
     first_not_counted},
    {"the last micro-batch's targets are not counted in what the sum is divided by",
     last_not_counted},
    {"only the last micro-batch is in it: the gradients are zeroed between micro-batches",
     last_only},
    {"only the last micro-batch is in it, divided by its own valid targets", last_mean},
    {"only the first micro-batch is in it", first_only},
    {"the last micro-batch of the window is missing", all_but_last},
    {"the first micro-batch of the window is missing", all_but_first},
    {"the first micro-batch was used each time: ask data_next() for each one", first_each_time},
    {"the last micro-batch was used each time: a batch is valid only until the next data_next()",
     last_each_time},
    {"the last micro-batch is counted twice", last_twice},
};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes };

/* By the limit that is given. */
static inline void clip_sum(const Case *it, double *values) {
    clip(&it->given, values, (double)it->given.max_norm);
}

/* (P) adds micro-batches `from` to `to` with their weights. */
static inline void add_micros(const Case *it, const Window *w, Weight *weight, int from, int to,
                              double *values) {
    for (int k = from; k < to; k++) {
        double factor = weight(w, k);
        for (size_t i = 0; i < it->given.P; i++) {
            values[i] += factor * w->sum[k][i];
        }
    }
}

/* (P) the window's gradient with these weights, not clipped. */
static inline double *combine(const Case *it, const Window *w, Weight *weight) {
    double *values = check_doubles(it->given.check, it->given.P);
    add_micros(it, w, weight, 0, w->count, values);
    return values;
}

static inline double loss_of(const Window *w, Weight *weight) {
    double loss = 0;
    for (int k = 0; k < w->count; k++) {
        loss += weight(w, k) * w->loss[k];
    }
    return loss;
}

/** Where a clip can come too early. */
typedef enum EarlyClip { AFTER_EACH, BEFORE_EACH, BEFORE_LAST } EarlyClip;

/* (P) the window's gradient where what has been added so far is clipped within the window. */
static inline double *clipped_early(const Case *it, const Window *w, EarlyClip when) {
    double *values = check_doubles(it->given.check, it->given.P);
    for (int k = 0; k < w->count; k++) {
        if (when == BEFORE_EACH || (when == BEFORE_LAST && k == w->count - 1)) {
            clip_sum(it, values);
        }
        add_micros(it, w, right, k, k + 1, values);
        if (when == AFTER_EACH) {
            clip_sum(it, values);
        }
    }
    return values;
}

#endif
