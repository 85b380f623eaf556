/**
 * @file choice.h
 * @brief The judge's part of lab 06: budgets in which a plan is asked for, and what is chosen.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_CHOICE_H
#define GRADER_LABS_06_FIT_CHOICE_H

#include "grader/labs/06_fit/stack.h"

enum { MOST_ASKED = 40, SENTENCE = 400, QUICKLY = 10 };

/** Budgets that are asked about in one run. */
typedef struct Budgets {
    uint64_t budget[MOST_ASKED];
    Priced best[MOST_ASKED];   /**< exactly */
    Priced chosen[MOST_ASKED]; /**< what came back; not found: nothing was */
    int count;
} Budgets;

/** Adds a budget, if there is room. */
void budgets_ask(const Stack *stack, Budgets *budgets, size_t budget);

/**
 * Adds the budgets in which each known mistake does most harm, and is `less` bytes short of a plan.
 *
 * @return whether each mistake costs more than is allowed in one of them, so that none can pass
 */
bool budgets_ask_at_worst(const Stack *stack, Budgets *budgets, size_t less);

/** Gives the options of a stack. */
void stack_give(const Stack *stack);

/** Asks, and judges each choice. */
void choices_expect(const Stack *stack, Budgets *budgets);

/** The same, and asks about the same options in the opposite order: none is right for its place. */
void choices_expect_turned(const Stack *stack, Budgets *budgets);

/** As choices_expect(), and of the same stack with far fewer bytes: sums of 32 bits show. */
void choices_expect_wide(const Stack *stack, Budgets *budgets);

/** As choices_expect(), and of blocks that are all alike, whose costs floats take for different. */
void choices_expect_alike(const Stack *stack, Budgets *budgets);

/** As choices_expect(), and of blocks with more plans than there is room for. */
void choices_expect_endless(const Stack *stack, Budgets *budgets);

/** Asks about options in which nothing is left to choose. @return the option, or -1 */
int choice_option(Check *check, const PlanOption *options, int count, uint64_t budget);

#endif
