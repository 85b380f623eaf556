/**
 * @file predictions.h
 * @brief Judge of lab 08, task 5: bytes, times, and whether the bus is hidden.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_PREDICTIONS_H
#define GRADER_LABS_08_PREFETCH_PREDICTIONS_H

#include "grader/check.h"

/** Asks for the bytes of slots, of an offloaded step and on the bus, for many models. */
void predictions_expect_bytes(Check *check);

/** Asks how many seconds runs take, and compares with the makespan of a right prefetch. */
void predictions_expect_time(Check *check);

/** Asks on three machines whether the bus is hidden. */
void predictions_expect_hides(Check *check);

#endif
