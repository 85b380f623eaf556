/**
 * @file journeys.h
 * @brief Which entries of a record are an input's copy out, its copy back, and the segments' work.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_JOURNEYS_H
#define GRADER_LABS_08_PREFETCH_JOURNEYS_H

#include "grader/labs/08_prefetch/passes.h"

/** Takes the record, and finds the journeys of each pass and the mistakes that they show, up to a
    pass that cannot be followed; where passes of another model are amid these, of the first pass
    alone. @return whether there is a record; if not, the check has failed */
bool journeys_find(OffloadRun *run);

/** A comparison, with all known mistakes as suspects. @return right */
bool journeys_compared(const OffloadRun *run, bool right, const char *seen);

#endif
