/**
 * @file shared.h
 * @brief What both programs of lab 06 read: the submission's and the kit's.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_SHARED_H
#define GRADER_LABS_06_FIT_SHARED_H

#include "common/device.h"
#include "grader/labs/06_fit/protocol.h"
#include "grader/wire.h"

/** A tensor of whole numbers, and how many. */
const int32_t *given_numbers(const Wire *in, const char *name, size_t *count);

/** One of the numbers of "ask". */
int given_asked(const Wire *in, int which);

/** The workspace is for as many threads as are asked for; models this small need one. */
Device *plan_device(const Wire *in);

#endif
