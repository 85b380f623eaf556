/**
 * @file check_state.h
 * @brief The inside of a check: what grader/check.c and grader/check_run.c share.
 * @ingroup grader
 */
#ifndef GRADER_CHECK_STATE_H
#define GRADER_CHECK_STATE_H

#include <jansson.h>

#include "grader/check.h"
#include "grader/record.h"

/** Bytes of a message, with its NUL. */
enum { CHECK_TEXT = 2000 };

/** A check from check_begin() to check_end(), which frees it and all that it owns. */
struct Check {
    const CheckPlan *plan;
    Wire *in, *out;
    Rng rng;
    RowState state;
    int compared;             /* comparisons that were right */
    char message[CHECK_TEXT]; /* what was seen */
    char mistake[CHECK_TEXT]; /* the likely mistake */
    char *text;               /* what the probe wrote */
    size_t memory_limit;      /* bytes of the probe's address space; 0: none */
    char setting[8][100];     /* of the probe's environment */
    int settings;
    double seconds, cpu_seconds;
    size_t peak_bytes;
    json_t *pictures; /* of memory */
    int level;
    void **memory; /* freed with the check */
    int memory_count;
};

/**
 * Notes how a check has ended, unless it is known already: what came first counts.
 *
 * @param format printf format of what was seen, then its values
 * @return false, so that a caller can hand it on
 */
bool check_conclude(Check *check, RowState state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
