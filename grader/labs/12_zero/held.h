/**
 * @file held.h
 * @brief The judge of lab 12: what a rank has, gathers and sends, in bytes.
 * @ingroup grader
 */
#ifndef GRADER_LABS_12_ZERO_HELD_H
#define GRADER_LABS_12_ZERO_HELD_H

#include "grader/check.h"

/** Bytes that a rank has all the time. */
void held_states(Check *check);

/** Bytes that come and go. */
void held_gathered(Check *check);

/** Bytes of weights where the next unit is on its way. */
void held_ahead(Check *check);

/** Bytes that a rank sends in an update. */
void held_sent(Check *check);

#endif
