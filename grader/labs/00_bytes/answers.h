/**
 * @file answers.h
 * @brief Judge of lab 00: asks about shapes, and knows which mistake gives which answer.
 * @ingroup grader
 */
#ifndef GRADER_LABS_00_BYTES_ANSWERS_H
#define GRADER_LABS_00_BYTES_ANSWERS_H

#include "common/block.h"
#include "common/trainer.h"
#include "grader/quiz.h"

enum { SECONDS = 10, THREADS = 3 };

/** An answer: one number in bytes[0], or one for each kind of memory. */
typedef MemoryUse answer_fn(const Shape *shape);

/** A known mistake, and what it answers. */
typedef struct Mistake {
    const char *sentence;
    answer_fn *answer;
} Mistake;

/** An answer of one number. */
MemoryUse answer_one(size_t bytes);

/* ---- asking ---------------------------------------------------------------------------------- */

/** A random shape whose sizes do not divide each other; V is not a multiple of 64. */
Shape shape_random(Check *check, Precision precision, Attention attention);

/** Gives all questions to a case of the probe, and on how many threads it would run. */
bool answers_ask(Quiz *quiz, const char *probe_case);

/** This task's answer, given an earlier task's mistake. */
typedef MemoryUse lift_fn(const Shape *shape, size_t earlier);

/** A list of known mistakes, by MISTAKES(). */
typedef struct Mistakes {
    const Mistake *list;
    int count;
    lift_fn *lift; /**< NULL: they are this task's own */
} Mistakes;

/** Of an array, and NULL or how its answers become those of this task. */
#define MISTAKES(list, lift) ((Mistakes){list, (int)(sizeof(list) / sizeof *(list)), lift})

/** Compares all answers; only where one is wrong are the known mistakes worked out.
 *
 * @param quiz  has run
 * @param right what should be answered
 * @param lists (list_count) known mistakes, this task's own first
 * @param list_count how many
 */
void answers_expect(const Quiz *quiz, answer_fn *right, const Mistakes *lists, int list_count);

#endif
