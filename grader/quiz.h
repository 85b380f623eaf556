/**
 * @file quiz.h
 * @brief Judges of labs with formulas: asks the submission about many shapes in one run.
 * @ingroup grader
 *
 *     Quiz quiz = {.check = check, .numbers = 1};
 *     quiz_add(&quiz, shape);
 *     if (quiz_run(&quiz, "params", 10)) { ...quiz_answer(&quiz, 0)... }
 */
#ifndef GRADER_QUIZ_H
#define GRADER_QUIZ_H

#include "grader/check.h"
#include "grader/shape.h"

enum { QUIZ_SHAPES = 32, QUIZ_TWINS = 4 };

/** The questions of a check. */
typedef struct Quiz {
    Check *check;
    Shape shape[QUIZ_SHAPES];
    char name[QUIZ_SHAPES][WIRE_NAME]; /**< "f32 plain V300 T20 L2 NH2 C16 (2,17)", once it runs */
    int count;                         /**< shapes */
    size_t numbers;                    /**< of one answer: 1, or MEMORY_KINDS */
} Quiz;

/** Adds a question; it may be changed until the quiz runs. */
void quiz_add(Quiz *quiz, Shape shape);

/**
 * Adds QUIZ_TWINS questions, each like the last one but for one number: the precision, V, L, and C
 * with it. The probe asks all at one address, in the same B and T: who remembers an answer by these
 * gives it once more. V grows by a number that 2 to 6 ranks divide.
 */
void quiz_add_twins(Quiz *quiz);

/** Names and gives the shapes, wants their answers, and runs a case of the probe: check_run(). */
bool quiz_run(Quiz *quiz, const char *probe_case, double seconds);

/** (numbers) what came back for shape i. */
const uint64_t *quiz_answer(const Quiz *quiz, int i);

#endif
