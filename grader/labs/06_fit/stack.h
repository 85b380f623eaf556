/**
 * @file stack.h
 * @brief The judge's part of lab 06: models whose blocks differ, and the best way for each block.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_STACK_H
#define GRADER_LABS_06_FIT_STACK_H

#include "common/plan.h"
#include "grader/check.h"

enum { STACK_OPTIONS = 12 };

/** A drawn model on a drawn machine: what each block takes and costs, in each of the options. */
typedef struct Stack {
    Check *check;
    int count;
    PlanOption option[STACK_OPTIONS];
    PlanBlock block[STACK_OPTIONS][PLAN_BLOCKS];
} Stack;

/** A plan of a stack, with what it costs and takes; `found` is false where there is none. */
typedef struct Priced {
    bool found;
    PlanChoice choice;
    double cost;
    size_t peak;
} Priced;

/** How large a drawn model is. */
typedef enum StackSize {
    STACK_SMALL, /**< 6 to 10 blocks, so that one block counts */
    STACK_WIDE,  /**< 24 blocks as wide as GPT-2's, its vocabulary, and more than 2^32 bytes;
                      the last one decides what fits */
} StackSize;

/** Draws a stack; freed with the check. */
Stack *stack_draw(Check *check, StackSize size);

/** Budgets, from that in which one plan fits up to that in which all do, that are asked about. */
enum { TIES_BUDGETS = 16 };

/** With equals: each option comes three times, twice with more bytes; three blocks cost the same.
    Drawn until in one of TIES_BUDGETS the best plan keeps more than another of its cost. */
Stack *stack_draw_ties(Check *check);

/** One option whose blocks are all alike, drawn until sums of seconds in floats take equals for
    different, in each order of adding, and the wrong one for cheaper. */
Stack *stack_draw_alike(Check *check);

/** Whether floats, added in one of the orders, take a plan for no dearer than another. */
bool stack_floats_prefer(const Stack *stack, const PlanChoice *choice, const PlanChoice *other,
                         bool from_last);

/** 24 blocks of which any plan that keeps more costs less: no plan beats another, and there is no
    room to remember them all. `best` takes the most bytes that fit into its own peak. */
Stack *stack_draw_endless(Check *check, Priced *best);

/** The same options, the last one first; freed with the check. */
Stack *stack_turned(const Stack *stack);

/** The same with a 4096th of all bytes; freed with the check. */
Stack *stack_smaller(const Stack *stack);

/** Cost and peak of a choice. */
Priced stack_price(const Stack *stack, const PlanChoice *choice);

/** "2 x 4 f16 plain KKPA": window, micro-batch; keep, probabilities or again by block. */
const char *stack_text(const Stack *stack, const PlanChoice *choice, char text[100]);

/** Of all plans that fit the cheapest, and of equals the one with the lowest peak: exactly. */
Priced stack_best(const Stack *stack, size_t budget);

/** The largest budget in which nothing is cheaper than this plan. */
size_t stack_before_cheaper(const Stack *stack, const Priced *best);

/** The lowest peak of all plans. */
size_t stack_least(const Stack *stack);

/** The peak of the cheapest plan where everything fits. */
size_t stack_most(const Stack *stack);

/* ---- known mistakes -------------------------------------------------------------------------- */

/** Budgets in which a mistake shows. */
typedef enum StackShows {
    SHOWS_ANYWHERE,
    SHOWS_EXACTLY, /**< those that a plan takes to the byte */
    SHOWS_SHORT,   /**< those that are one byte short of a plan */
} StackShows;

/** A known mistake. */
typedef struct StackRule {
    const char *sentence;
    Priced (*choose)(const Stack *stack, size_t budget);  /**< what it chooses; or */
    void (*change)(PlanOption *option, PlanBlock *block); /**< what it takes an option for */
    StackShows shows;
} StackRule;

/** The choice of a mistake, at the price that it really has. */
Priced rule_choose(const StackRule *rule, const Stack *stack, size_t budget);

/** Whether a mistake chooses this, or something that is as good by its own lights. */
bool rule_explains(const StackRule *rule, const Stack *stack, size_t budget, const Priced *chosen);

/** Known mistakes, ended by one without a sentence. */
extern const StackRule stack_rules[];

#endif
