/**
 * @file protocol.h
 * @brief Lab 01's tests and the loops that they test: two programs, and what they say to each
 * other.
 * @ingroup grader
 *
 * The tests run in a probe of their own, without a model and without the hand-in's loop.c. The
 * loops are in a program of the kit. Descriptor WIRE_BESIDE of both is one end of a socket: an
 * experiment goes one way, a reply the other. Which loop is which, the judge says to the loops
 * alone, in their own table.
 */
#ifndef GRADER_LABS_01_LOOP_LOOPS_PROTOCOL_H
#define GRADER_LABS_01_LOOP_LOOPS_PROTOCOL_H

#include "labs/01_loop/contract.h"

enum {
    LOOP_MOST = 64,     /**< loops under test in one run */
    LOOPS_AT_HOME = 6,  /**< those of `make loops01`: a to f */
    LOOP_TESTS = 5,     /**< tests that a hand-in has */
    LOOP_NO_ANSWER = 2, /**< a verdict is 0, 1, or not there */
};

/** From this variant of LOOP_NO_TARGETS on, a loop is wrong in its loss alone: that of value 0, 1,
    ... of the term's constant. */
enum { LOOP_OF_A_TERM = 8 };

/** The ways to be a loop: right, or wrong in what one of the tests is about. */
typedef enum LoopKind {
    LOOP_RIGHT,      /**< nothing is wrong */
    LOOP_CLIP,       /**< test_clip() */
    LOOP_ZERO,       /**< test_zero() */
    LOOP_MEAN,       /**< test_mean() */
    LOOP_RATE,       /**< test_rate() */
    LOOP_NO_TARGETS, /**< test_no_targets() */
    LOOP_KINDS,      /**< how many */
} LoopKind;

/** One loop, as the judge describes it to the loops' program. */
typedef struct LoopSpec {
    LoopKind kind; /**< what is wrong with it */
    int variant;   /**< in which way: as step.c has them */
    float amount;  /**< in [0, 1): how much, where a variant has a magnitude; 0 is hardest to see */
} LoopSpec;

/** A question to the loops. */
typedef struct LoopRequest {
    int32_t number;            /**< of the loop */
    int32_t unused;            /**< zero */
    LoopExperiment experiment; /**< checked on both sides */
} LoopRequest;

/** NULL, or what is out of range in an experiment. */
const char *loop_fault(const LoopExperiment *experiment);

/** Reads or writes all of it. False at the end of the other program. */
bool loop_exchange(bool write_it, void *data, size_t bytes);

#endif
