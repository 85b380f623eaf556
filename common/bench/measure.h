/**
 * @file measure.h
 * @brief A clock and a median: what every bench program needs.
 * @ingroup common
 */
#ifndef COMMON_BENCH_MEASURE_H
#define COMMON_BENCH_MEASURE_H

#include <stdlib.h>
#include <time.h>

/** Milliseconds on the monotonic clock. */
static inline double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
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
