/**
 * @file choice.h
 * @brief The judge's part of lab 06: budgets in which a plan is asked for, and what is chosen.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_CHOICE_H
#define GRADER_LABS_06_FIT_CHOICE_H

#include "grader/judge_training.h"
#include "grader/labs/06_fit/mistakes.h"

enum { MOST_ASKED = 40, SENTENCE = 400 };

/** Gives the model and how it is to be trained; `most` is for plan_largest(). */
void space_give(const Space *space, int most);

/* ---- asking ---------------------------------------------------------------------------------- */

/** Budgets that are asked about in one run. */
typedef struct Budgets {
    uint64_t budget[MOST_ASKED];
    int count;
    const Measured *chosen[MOST_ASKED]; /**< what came back; NULL: nothing was found */
    const char *mistake;                /**< that explains all of it, or "" */
} Budgets;

/** Adds a budget, if there is room. */
void budgets_ask(Budgets *budgets, size_t budget);

/** Budgets at some of the cliffs, from the smallest to the largest, plus `more` bytes. */
void budgets_ask_at_cliffs(Budgets *budgets, const Space *space, long more);

/** Budgets in which known mistakes show most. */
void budgets_ask_at_worst(Budgets *budgets, const Space *space);

/* ---- what was chosen ------------------------------------------------------------------------- */

/** Asks the hole. @return whether each answer is -1, with *plan left alone, or a plan */
bool choices_run(const Space *space, Budgets *budgets);

/** That nothing was chosen for budget i, which is too small for any plan. */
void choice_expect_nothing(const Space *space, const Budgets *budgets, int i);

/** That the plan chosen for budget i fits, and costs little more than the best. */
void choice_expect(const Space *space, const Budgets *budgets, int i);

/** Asks, and judges each choice. */
void choices_expect(const Space *space, Budgets *budgets);

/** A budget in the middle of the front, and the plan that was chosen for it; NULL if it is none. */
const Measured *choice_one(const Space *space, Budgets *budgets);

#endif
