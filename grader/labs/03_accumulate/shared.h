/**
 * @file shared.h
 * @brief What both programs of lab 03 do around a window: the submission's and the kit's.
 * @ingroup grader
 */
#ifndef GRADER_LABS_03_ACCUMULATE_SHARED_H
#define GRADER_LABS_03_ACCUMULATE_SHARED_H

#include "grader/labs/03_accumulate/protocol.h"

/** Bytes of the arena, where it is not to be tight. */
enum { ACCUMULATE_ARENA = 256 << 20 };

/** Opens a run with an arena or a budget of `arena` bytes. */
void accumulate_open(const Wire *in, Wire *out, size_t arena);

/** A window is over. More windows than the judge expects are counted, and not looked at. */
void accumulate_done(const StepReport *report);

#endif
