#include "grader/labs/03_accumulate/mistakes.h"

#include <math.h>

static double weight_and_by_micros(const Window *w, int k) {
    return weight_right(w, k) / w->count;
}
static double weight_and_by_steps(const Window *w, int k) {
    return weight_right(w, k) / w->micros;
}
static double weight_mean_of_means(const Window *w, int k) {
    return weight_over(1, w->n[k]) / w->count;
}
static double weight_mean_of_full_means(const Window *w, int k) {
    return weight_over(1, w->n[k]) / w->micros;
}
static double weight_sum_of_means(const Window *w, int k) {
    return weight_over(1, w->n[k]);
}
static double weight_partial_as_full(const Window *w, int k) {
    return weight_right(w, k) * w->count / w->micros;
}
static double weight_times_micros(const Window *w, int k) {
    return weight_right(w, k) * w->count;
}
static double weight_by_micros(const Window *w, int k) {
    (void)k;
    return 1.0 / w->count;
}
static double weight_by_epoch(const Window *w, int k) {
    (void)k;
    return weight_over(1, w->left);
}
static double weight_one_too_many(const Window *w, int k) {
    (void)k;
    return weight_over(1, w->valid + w->next);
}
static double weight_last_only(const Window *w, int k) {
    return k == w->count - 1 ? weight_right(w, k) : 0;
}
static double weight_last_mean(const Window *w, int k) {
    return k == w->count - 1 ? weight_over(1, w->n[k]) : 0;
}
static double weight_first_only(const Window *w, int k) {
    return k == 0 ? weight_right(w, k) : 0;
}
static double weight_all_but_last(const Window *w, int k) {
    return k < w->count - 1 ? weight_right(w, k) : 0;
}
static double weight_all_but_first(const Window *w, int k) {
    return k > 0 ? weight_right(w, k) : 0;
}
static double weight_first_each_time(const Window *w, int k) {
    return k == 0 ? weight_right(w, k) * w->count : 0;
}
static double weight_last_each_time(const Window *w, int k) {
    return k == w->count - 1 ? weight_right(w, k) * w->count : 0;
}
static double weight_last_twice(const Window *w, int k) {
    return weight_right(w, k) * (k == w->count - 1 ? 2 : 1);
}
static double weight_first_not_counted(const Window *w, int k) {
    (void)k;
    return weight_over(1, w->valid - w->n[0]);
}
static double weight_last_not_counted(const Window *w, int k) {
    (void)k;
    return weight_over(1, w->valid - w->n[w->count - 1]);
}
/* 1 / (n_0 + ... + n_k) */
static double weight_seen_so_far(const Window *w, int k) {
    double seen = 0;
    for (int i = 0; i <= k; i++) {
        seen += w->n[i];
    }
    return weight_over(1, seen);
}

/* Micro-batches before the first without any valid target. */
static int window_before_empty(const Window *w) {
    int k = 0;
    while (k < w->count && w->n[k] > 0) {
        k++;
    }
    return k;
}
/* A window that begins with an empty one is 0; with one target in all, a mistake about that makes
   it so as well, and nothing is said. */
static double weight_to_empty(const Window *w, int k) {
    int before = window_before_empty(w);
    return before == 0 && w->valid == 1 ? (double)NAN : k < before ? weight_right(w, k) : 0;
}
static double weight_counted_to_empty(const Window *w, int k) {
    double seen = 0;
    (void)k;
    for (int i = 0; i < window_before_empty(w); i++) {
        seen += w->n[i];
    }
    return seen == 0 && w->valid == 1 ? (double)NAN : weight_over(1, seen);
}

/* In the second window of an epoch; those after it are other ones altogether. */
static double weight_one_lost(const Window *w, int k) {
    bool lost = w->first > 0;
    return lost && k == 0 ? 0 : weight_over(1, w->valid - (lost ? w->n[0] : 0));
}

const char accumulate_one_lost[] =
    "a micro-batch is lost after each full window: look at sync_gradients before data_next()";

const char accumulate_counts_to_empty[] =
    "targets are counted up to a micro-batch without any: those after it count as well";

const char accumulate_one_too_many[] =
    "the targets of one micro-batch too many are counted: the first of the next window";

const char accumulate_rest_of_epoch[] =
    "it is divided by the valid targets of the whole epoch from here on, not of this window";

const AccumulateMistake accumulate_mistakes[ACCUMULATE_MISTAKES] = {
    {"the sum is not divided: each valid target counts 1 / (valid targets of the window)",
     weight_one},
    {"it is divided by the window's valid targets twice", weight_divided_twice},
    {"it is a mean of means: each micro-batch is divided by its own valid targets and by their "
     "number, so a target in a short one counts more. Divide by the window's valid targets",
     weight_mean_of_means},
    {"each micro-batch is divided by its own valid targets only: these are the means added up, not "
     "the window's mean",
     weight_sum_of_means},
    {"it is divided by the number of micro-batches once more: the window's valid targets are all "
     "that it is divided by",
     weight_and_by_micros},
    {"the last window is shorter, and still scaled as a full one: its sum is divided by its own "
     "valid targets, and by nothing else",
     weight_partial_as_full},
    {"means of micro-batches divided by `steps`, although this window has fewer",
     weight_mean_of_full_means},
    {"it is divided by `steps` once more: divide by the window's valid targets alone",
     weight_and_by_steps},
    {"it is multiplied by the number of micro-batches", weight_times_micros},
    {"padding and masked targets are counted: divide by the valid targets, not by B * T",
     weight_by_padded},
    {"it is divided by the number of sequences, not by the valid targets", weight_by_rows},
    {"the sum is divided by the number of micro-batches, not by the valid targets",
     weight_by_micros},
    {accumulate_rest_of_epoch, weight_by_epoch},
    {accumulate_one_too_many, weight_one_too_many},
    {"each micro-batch is divided by the targets seen so far: the window's total must be known "
     "before the first backward",
     weight_seen_so_far},
    {"the first micro-batch's targets are not counted in the divisor", weight_first_not_counted},
    {"the last micro-batch's targets are not counted in the divisor", weight_last_not_counted},
    {"only the last micro-batch is in it: each of them adds its gradient, with the window's share, "
     "and nothing is zeroed in between",
     weight_last_only},
    {"only the last micro-batch is in it, divided by its own valid targets", weight_last_mean},
    {"only the first micro-batch is in it", weight_first_only},
    {"the last micro-batch of the window is missing", weight_all_but_last},
    {"the first micro-batch of the window is missing", weight_all_but_first},
    {"the first micro-batch was used each time: each of them has its turn", weight_first_each_time},
    {"the last micro-batch was used each time; if it came from data_next(): "
     "a batch is valid only until the next data_next()",
     weight_last_each_time},
    {"the last micro-batch is counted twice", weight_last_twice},
    {"the window ends at a micro-batch without any valid target: it adds nothing, and those after "
     "it add theirs",
     weight_to_empty},
    {accumulate_counts_to_empty, weight_counted_to_empty},
    {accumulate_one_lost, weight_one_lost},
};
