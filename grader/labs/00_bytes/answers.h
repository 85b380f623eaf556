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

/** An answer that takes a while to work out: only once for each shape. */
MemoryUse answer_once(answer_fn *work_out, const Shape *shape);

/* ---- asking ---------------------------------------------------------------------------------- */

/** A random shape whose sizes do not divide each other; V is not a multiple of 64. */
Shape shape_random(Check *check, Precision precision, Attention attention);

/** The same with tensors of more elements than 2^32. */
Shape shape_large(Check *check, Precision precision, Attention attention);

/** Whether it is one of these: too large to be run. */
bool shape_is_large(const Shape *shape);

/** Turns another task's answer into this one's. */
typedef MemoryUse lift_fn(const Shape *shape, MemoryUse earlier);

/** A list of known mistakes, by MISTAKES(). */
typedef struct Mistakes {
    const Mistake *list;
    int count;
    lift_fn *lift; /**< NULL: they are this task's own */
    lift_fn *then; /**< NULL, or the second step on the way */
} Mistakes;

/** Of an array, and how its answers become those of this task: NULL, NULL for its own. */
#define MISTAKES(list, lift, then)                                                                 \
    ((Mistakes){list, (int)(sizeof(list) / sizeof *(list)), lift, then})

/** All that is known of a task. */
typedef struct Task {
    const char *probe_case;
    size_t numbers;     /**< of an answer */
    answer_fn *right;   /**< what should be answered, however large the shape */
    answer_fn *counted; /**< the same by running it; NULL where there is nothing to run */
    Mistakes lists[6];  /**< known mistakes, this task's own first */
    int list_count;
} Task;

/** Adds the questions of a check to a quiz. */
typedef void draw_fn(Quiz *quiz);

/**
 * The whole of a check. Shapes are drawn again where two known mistakes would give the same answers
 * to all of them, unless no shapes of the kind tell these apart.
 */
void answers_grade(Check *check, draw_fn *draw, const Task *task);

#endif
