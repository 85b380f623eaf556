/**
 * @file journeys.h
 * @brief Which entries of a record are an input's copy out, its copy back, and the segments' work.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_JOURNEYS_H
#define GRADER_LABS_08_PREFETCH_JOURNEYS_H

#include "grader/labs/08_prefetch/passes.h"

/** Finds the journeys of the first pass, and the mistakes that they show. @return whether each
    input goes and comes; if not, the check has failed */
bool journeys_find(OffloadRun *run);

/** A comparison, with all known mistakes as suspects. @return right */
bool journeys_compared(const OffloadRun *run, bool right, const char *seen);

#endif
