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

/** The smallest of `count` values. */
static inline double least(const double *values, int count) {
    double found = values[0];
    for (int i = 1; i < count; i++) {
        found = values[i] < found ? values[i] : found;
    }
    return found;
}

/** Of durations of the same work, how many times as long the middle one is as the shortest; sorts
 * them. Near 1 where nothing else runs. */
static inline double noise(double *values, int count) {
    double shortest = least(values, count);
    return shortest > 0 ? median(values, count) / shortest : 1;
}

/** A noise from which on a machine is too busy for its times to be believed. */
#define NOISE_BUSY 1.3

#endif
