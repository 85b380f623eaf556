/**
 * @file measure.h
 * @brief Milliseconds and their median: what every bench program needs.
 * @ingroup common
 */
#ifndef TRAIN_MEASURE_H
#define TRAIN_MEASURE_H

#include <stdlib.h>

#include "common/clock.h"

/** now() in milliseconds. */
static inline double now_ms(void) {
    return 1e3 * now();
}

/** For qsort(): doubles, the smallest first. */
static inline int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** The middle one of `count` values (the upper one of two); sorts them. */
static inline double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[count / 2];
}

/** How many times the shortest of `count` durations the longest is. */
static inline double spread(const double *values, int count) {
    double least = values[0], most = values[0];
    for (int i = 1; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    return least > 0 ? most / least : 1;
}

/** A spread of the same work above which a machine is too busy for its times to be believed. */
#define NOISY 2.0

#endif
