/**
 * @file peak.h
 * @brief What the CPU can do at most, and the least time that a step could take with it.
 * @ingroup common
 *
 * The bound of a step: its products at the rate of fused multiplications and additions that find
 * all of their numbers in registers, everything else at the rate of a copy. Costs are those of
 * kernels/cost.h; both rates are measured in the run that compares with them.
 */
#ifndef TOOLS_BENCH_PEAK_H
#define TOOLS_BENCH_PEAK_H

#include "common/watch.h"

/** The most that a machine does in a ms. */
typedef struct Peak {
    double flops; /**< in products: two for a multiplication and its addition */
    double bytes; /**< read and written by a copy */
} Peak;

/** Operations per ms of all threads together: the median of several rounds. */
double peak_flops(void);

/** Least time in ms of products and copied bytes, one after the other. */
static inline double peak_ms(Peak peak, Cost cost) {
    return cost.flops / peak.flops + cost.bytes / peak.bytes;
}

#endif
