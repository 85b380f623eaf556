/**
 * @file clock.h
 * @brief The clock that durations are measured with.
 * @ingroup common
 */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <time.h>

/** Seconds on the monotonic clock, from an unknown start: only differences mean something. */
static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
