/**
 * @file machines.h
 * @brief Three of the machines that machines/ declares, and times on them that are worked out.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_MACHINES_H
#define GRADER_LABS_08_PREFETCH_MACHINES_H

#include "grader/labs/08_prefetch/feed.h"

enum { MACHINES = 3, TIMED_BATCHES = 12 };

/** As machines/t4.json, a100.json and laptop.json have them: the judge reads no file of the kit. */
extern const Machine *const machines_declared[MACHINES];

/** The most that TIMED_BATCHES may take: 1.05 (fill + n times the larger stage + launches). */
double machines_bound(const FeedRun *run, const Machine *machine);

/** The makespan of copies and kernels through slots, on a machine without launch costs. */
double machines_pipeline(int batches, int slots, double copy, double work);

#endif
