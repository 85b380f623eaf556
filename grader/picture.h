/**
 * @file picture.h
 * @brief Memory over a step, on its way from the probe to the record: shown, never judged.
 * @ingroup grader
 *
 * The probe records events while the submission works and hands back bytes in use by kind, for at
 * most PICTURE_MOMENTS moments, the largest of each stretch among them. The numbers come from a
 * process that the submission could have changed, so nothing but a picture is made of them.
 */
#ifndef GRADER_PICTURE_H
#define GRADER_PICTURE_H

#include <jansson.h>

#include "common/memory.h"
#include "grader/wire.h"

/** Moments of a picture, and numbers in its tensor. */
enum { PICTURE_MOMENTS = 160, PICTURE_NUMBERS = PICTURE_MOMENTS * MEMORY_KINDS };

/**
 * In the probe: writes what memory_record() has seen.
 *
 * @param memory with events, or without
 * @param[out] to (PICTURE_MOMENTS, MEMORY_KINDS) bytes; moments that are not needed stay as they
 * are
 */
void picture_give(const Memory *memory, uint64_t *to);

/**
 * In the judge: {title, kinds, bytes, budget} as tools/report.py draws it.
 *
 * @param from   (PICTURE_MOMENTS, MEMORY_KINDS); ends where WIRE_FILL or an absurd number stands
 * @param title  one line
 * @param budget in bytes, or 0
 * @return to be released; NULL if there is not one moment
 */
json_t *picture_json(const uint64_t *from, const char *title, size_t budget);

#endif
