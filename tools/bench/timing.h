/**
 * @file timing.h
 * @brief How long an op takes on a device, and how fast the device can copy and multiply at all.
 * @ingroup common
 *
 * Calls are queued one after the other, as in a training step, and the clock stops when the device
 * has done all of them. Each call takes other tensors than the ones before it, until so much memory
 * has gone by that no cache still holds the first ones.
 */
#ifndef TOOLS_BENCH_TIMING_H
#define TOOLS_BENCH_TIMING_H

#include "common/device.h"
#include "tools/bench/cases.h"

/** How often each thing is measured, and how often two things in turn; the median counts. */
enum { TIMING_ROUNDS = 5, TIMING_TURNS = 15 };

/** How long to measure, and on how much memory. */
typedef struct Effort {
    double round_ms;   /**< the calls of a round take about this long */
    size_t ring_bytes; /**< so much memory goes by before a call meets the same tensors again */
    size_t copy_bytes; /**< size of the copy that bounds the others */
    int side;          /**< of the square matrices of the product that bounds the others */
} Effort;

/** Where and how to measure. */
typedef struct Timing {
    Device *device;  /**< borrowed */
    Effort effort;   /**< how long, on how much */
    float *noise;    /**< device memory, numbers in [0, 1): tensors are filled from it */
    float *centered; /**< device memory, numbers in [-1/2, 1/2) */
} Timing;

/** Prepares the numbers that tensors are filled with; they go with the device. */
Timing timing_new(Device *device, Effort effort);

/** Device memory; where there is no more, a line on stderr and the end of the program. */
void *timing_alloc(Device *device, size_t bytes);

/** Median time of one call of an op, in ms. */
double timing_case(const Timing *timing, const Case *item, const CasePlace *place,
                   Precision precision);

/** Median ratio of one op's time to another's, both timed in turn: a machine's load changes less
 * from one to the next than from run to run. */
double timing_ratio(const Timing *timing, const Case *item, const Case *other,
                    const CasePlace *place, Precision precision);

/** Bytes per ms that a copy from device to device moves: each byte is read and written. */
double timing_copy_rate(const Timing *timing);

/** Operations per ms of a large square product, through the same op as every other product. */
double timing_matmul_rate(const Timing *timing, const CasePlace *place, Precision precision);

#endif
