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

enum {
    CHECK_TEXT = 2000,  /**< bytes of a message, with its NUL */
    CHECK_SETTINGS = 8, /**< most settings of the probe's environment */
};

/** A check from check_begin() to check_end(), which frees it and all that it owns. */
struct Check {
    const CheckPlan *plan;             /**< borrowed */
    Wire *in;                          /**< what the probe is given */
    Wire *out;                         /**< what it hands back */
    Rng rng;                           /**< of the inputs */
    RowState state;                    /**< ROW_PASS until something is known */
    int compared;                      /**< comparisons that were right */
    char message[CHECK_TEXT];          /**< what was seen */
    char mistake[CHECK_TEXT];          /**< the likely mistake */
    char shape[CHECK_TEXT];            /**< of the first tensor that differs in a simple way */
    unsigned char *events;             /**< of the probe's last run; owned */
    size_t event_count;                /**< how many */
    char *text;                        /**< what the probe wrote; NULL before it has run */
    size_t memory_limit;               /**< bytes of the probe's address space; 0: none */
    char setting[CHECK_SETTINGS][100]; /**< of the probe's environment: "NAME=value" */
    int settings;                      /**< how many */
    double seconds;                    /**< wall time of all runs of the probe */
    double cpu_seconds;                /**< processor time of the same */
    size_t peak_bytes;                 /**< of the largest of them */
    int level;                         /**< of the sandbox of the last */
    json_t *pictures;                  /**< of memory */
    void **memory;                     /**< (memory_count) inputs and right values */
    int memory_count;                  /**< how many */
};

/**
 * Notes how a check has ended, unless it is known already: what came first counts.
 *
 * @param check  the check
 * @param state  how it has ended
 * @param format printf format of what was seen, then its values
 * @return false, so that a caller can hand it on
 */
bool check_conclude(Check *check, RowState state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
