/**
 * @file watch.h
 * @brief A table of ops that reports the cost of each call.
 * @ingroup common
 *
 *     model->ops = ops_watch((Watch){.ops = model->ops, .precision = precision, .after = count});
 *
 * The one place where a call becomes a name and a Cost (kernels/cost.h): `train --profile` times
 * calls through it, the benchmarks ask it what a call must move.
 */
#ifndef COMMON_WATCH_H
#define COMMON_WATCH_H

#include "kernels/cost.h"
#include "kernels/ops.h"

/** The functions that learn of the calls. */
typedef struct Watch {
    const Ops *ops; /**< does the work; NULL: nothing is done, and pointers are only looked at */
    Precision precision;                                     /**< of `ops` */
    void (*before)(void *context);                           /**< before each call; may be NULL */
    void (*after)(void *context, const char *op, Cost cost); /**< after each: its name in Ops */
    void *context;                                           /**< for both */
} Watch;

/**
 * The ops of `watch`, which learns of each call. One watch at a time: the next call of this
 * function ends it.
 *
 * @param watch copied
 * @return a table like watch.ops, to be called by one thread
 */
const Ops *ops_watch(Watch watch);

#endif
