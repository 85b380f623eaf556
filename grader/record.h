/**
 * @file record.h
 * @brief The result of grading one submission: one row per planned check, in one JSON file.
 * @ingroup grader
 *
 * The record is written before anything runs, with every planned check at "grader error", and again
 * at the end; each time aside, then renamed. Everything that is shown or exported comes from it.
 */
#ifndef GRADER_RECORD_H
#define GRADER_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/** How a check ended. */
typedef enum RowState {
    ROW_GRADER_ERROR,  /**< the grader itself failed, or has not come to it */
    ROW_PASS,          /**< full points */
    ROW_FAIL,          /**< something was wrong */
    ROW_NOT_STARTED,   /**< a hole that is not filled */
    ROW_CRASHED,       /**< the submission ended the probe */
    ROW_TIMEOUT,       /**< it took too long */
    ROW_OVER_BUDGET,   /**< it wanted more memory than there was */
    ROW_BUILD_ERROR,   /**< it does not compile, or uses what it may not */
    ROW_SANDBOX_ERROR, /**< the sandbox failed: says nothing about the submission */
    ROW_NOT_RUN,       /**< no points, and what it needs is not here: a GPU */
} RowState;

/** "not started" and the like: as shown, and as in the JSON. */
const char *row_state_name(RowState state);

/** The state of that name; ROW_GRADER_ERROR if there is none. */
RowState row_state_of(const char *name);

/** Whether a row says why it is lost, if it is: what was seen, or the likely mistake. A lost row
    that does not is an error of the grader's. */
bool row_is_told(RowState state, const char *message, const char *mistake);

/**
 * A record with every planned check at "grader error".
 *
 * @param lab  "00_bytes"
 * @param from the folder that was graded
 * @param plan array of {name, points, title, visibility}; borrowed
 */
json_t *record_new(const char *lab, const char *from, const json_t *plan);

/** The row of a check, borrowed; NULL if it was not planned. */
json_t *record_row(json_t *record, const char *name);

/** Sets the score from the rows: points of those that passed, over the planned total. A record with
 * a "part", which the kit gave, earns nothing. */
void record_add_up(json_t *record);

/** Writes JSON beside `path`, then renames. False after a line on stderr. */
bool record_write(const json_t *json, const char *path);

/** The table that a student sees, and the score. */
void record_print(const json_t *record, FILE *to);

/** A copy made safe by text_plain(), in several lines; to be given to free(). */
char *record_clean(const char *text);

#endif
