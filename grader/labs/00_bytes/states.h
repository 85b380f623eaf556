/**
 * @file states.h
 * @brief Judge of lab 00: parameters and what is kept of each, rightly and by mistake.
 * @ingroup grader
 */
#ifndef GRADER_LABS_00_BYTES_STATES_H
#define GRADER_LABS_00_BYTES_STATES_H

#include "grader/labs/00_bytes/answers.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

/** Compares the answers of task 1. */
void params_expect(const Quiz *quiz);

/* ---- task 2 ---------------------------------------------------------------------------------- */

/** Compares the answers of task 2. */
void states_expect(const Quiz *quiz);

#endif
