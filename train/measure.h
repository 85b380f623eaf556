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

#endif
