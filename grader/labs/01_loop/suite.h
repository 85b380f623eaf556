/**
 * @file suite.h
 * @brief Judge of lab 01's tests: gives them loops, right ones and wrong ones, and compares what
 * they say with what the loops are.
 * @ingroup grader
 */
#ifndef GRADER_LABS_01_LOOP_SUITE_H
#define GRADER_LABS_01_LOOP_SUITE_H

#include "grader/check.h"
#include "grader/labs/01_loop/loops/protocol.h"

/** The loops of a check, and the tests that look at them. */
typedef struct Suite {
    Check *check;             /**< borrowed */
    LoopSpec loop[LOOP_MOST]; /**< (loops) in the order in which they are tested */
    int loops;                /**< how many */
    int32_t test[LOOP_TESTS]; /**< (tests) the tests that look at each: LoopKind - 1 */
    int tests;                /**< how many */
} Suite;

/** No loops and no tests yet. */
Suite suite_new(Check *check);

/** Adds every loop of a kind, and up to `more` that are drawn of them. */
void suite_add(Suite *suite, LoopKind kind, int more);

/** Adds the test that is about a kind. */
void suite_ask(Suite *suite, LoopKind kind);

/** Runs the tests, in a drawn order of the loops, and judges each verdict. */
void suite_judge(Suite *suite);

#endif
